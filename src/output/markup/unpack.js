// Unpacks data that is deflated and in base64.

function bytesOf(text) {
  const decoded = atob(text);
  const bytes = new Uint8Array(decoded.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = decoded.charCodeAt(i);
  return bytes;
}

async function unpack(bytes, size) {
  if (window.DecompressionStream) {
    try {
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
      return new Uint8Array(await new Response(stream).arrayBuffer());
    } catch (_) { /* Older browsers support other formats only. */ }
  }
  return inflate(bytes, size);
}

// Decompresses data (RFC 1951) for browsers without this function.
function inflate(input, size) {
  const output = new Uint8Array(size);
  let next = 0, held = 0, heldBits = 0, end = 0;
  const take = bits => {
    while (heldBits < bits) { held |= input[next++] << heldBits; heldBits += 8; }
    const value = held & ((1 << bits) - 1);
    held >>>= bits; heldBits -= bits;
    return value;
  };
  // A canonical code: the number of words of each length, and all symbols in the order of their words.
  const codeOf = lengths => {
    const many = new Uint16Array(16), first = new Uint16Array(16);
    for (const length of lengths) if (length) many[length]++;
    for (let i = 1; i < 15; i++) first[i + 1] = first[i] + many[i];
    const symbols = new Uint16Array(lengths.length);
    lengths.forEach((length, symbol) => { if (length) symbols[first[length]++] = symbol; });
    return { many, symbols };
  };
  const symbolOf = ({ many, symbols }) => {
    let word = 0, least = 0, at = 0;
    for (let length = 1; length < 16; length++) {
      word |= take(1);
      if (word - least < many[length]) return symbols[at + word - least];
      at += many[length];
      least = (least + many[length]) << 1;
      word <<= 1;
    }
    throw new Error("the letters of this page are damaged");
  };
  const table = (start, step, extra) => {
    const from = [], bits = [];
    for (let i = 0, value = start; i < extra.length; i++) { from.push(value); bits.push(extra[i]); value += step << extra[i]; }
    return { from, bits };
  };
  const lengthTable = table(3, 1, [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5]);
  lengthTable.from.push(258); lengthTable.bits.push(0);
  const distanceTable = table(1, 1, [0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13]);
  const fixed = Array.from({ length: 288 }, (_, i) => i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8);
  for (let isLast = 0; !isLast;) {
    isLast = take(1);
    const form = take(2);
    if (form === 0) {
      held = heldBits = 0;
      const length = input[next] | input[next + 1] << 8;
      output.set(input.subarray(next + 4, next + 4 + length), end);
      next += 4 + length; end += length;
      continue;
    }
    let words = codeOf(fixed), distances = codeOf(new Array(30).fill(5));
    if (form === 2) {
      const wordCount = take(5) + 257, distanceCount = take(5) + 1, own = new Array(19).fill(0);
      const order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
      for (let i = 0, n = take(4) + 4; i < n; i++) own[order[i]] = take(3);
      const lengthCode = codeOf(own), lengths = [];
      while (lengths.length < wordCount + distanceCount) {
        const symbol = symbolOf(lengthCode);
        if (symbol < 16) { lengths.push(symbol); continue; }
        const value = symbol === 16 ? lengths[lengths.length - 1] : 0;
        let times = symbol === 16 ? 3 + take(2) : symbol === 17 ? 3 + take(3) : 11 + take(7);
        while (times--) lengths.push(value);
      }
      words = codeOf(lengths.slice(0, wordCount));
      distances = codeOf(lengths.slice(wordCount));
    }
    for (let symbol; (symbol = symbolOf(words)) !== 256;) {
      if (symbol < 256) { output[end++] = symbol; continue; }
      const length = lengthTable.from[symbol - 257] + take(lengthTable.bits[symbol - 257]);
      const far = symbolOf(distances);
      const distance = distanceTable.from[far] + take(distanceTable.bits[far]);
      for (let i = 0; i < length; i++, end++) output[end] = output[end - distance];
    }
  }
  return output;
}
