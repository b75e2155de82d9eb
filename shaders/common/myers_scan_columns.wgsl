// Shared by myers_scan and myers_scan_workgroup: a workgroup searches one pattern in WG texts, and
// each invocation keeps the differences of its column in registers. The kernels supply match_bits.

#import myers

// Number of codes of symbols.
const CODES: u32 = select(select(4u, 16u, BITS == 4u), STRIDE, BITS == 8u);

struct ScanPattern {
    // First word of the profile, and rows and words of the pattern.
    profile: u32,
    m: u32,
    words: u32,
    // Number of words in one base's row of the profile.
    stride: u32,
    // Tasks of the workgroup, and place of the first one.
    first_task: u32,
    end_task: u32,
    first_place: u32,
}

struct ScanColumn {
    // Differences down the column: bits of the cells that are one more (or one less) than the cell
    // above.
    more: array<u32, WORDS>,
    less: array<u32, WORDS>,
    // Distance in the last row.
    distance: u32,
}

var<workgroup> least_columns: atomic<u32>;
var<workgroup> most_columns: atomic<u32>;
// Least and greatest number of columns of the workgroup's texts.
var<workgroup> column_range: vec2<u32>;

// Returns the pattern and the tasks of workgroup `group`.
fn pattern_of(group: u32) -> ScanPattern {
    let index = first_runs[2u * group];
    let first_task = first_runs[2u * group + 1u];
    let run = runs[index];
    let stride = (run.w + 31u) / 32u;
    let words = select(stride, min(stride, HEAD), HEAD > 0u);
    let m = run.w - 32u * (stride - words);
    return ScanPattern(run.z, m, words, stride, first_task, runs[index + 1u].x, run.y + first_task - run.x);
}

// Returns word `word` of the rows that match a code.
fn match_word(pattern: ScanPattern, code: u32, word: u32) -> u32 {
    let pads = WORDS - pattern.words;
    if (word < pads) {
        return PADS;
    }
    if (BITS == 8u) {
        return profile[pattern.profile + (word - pads) * STRIDE + min(code, STRIDE - 1u)];
    }
    let at = pattern.profile + word - pads;
    if (code < 4u) {
        return profile[at + code * pattern.stride];
    }
    let bases = params.sets[(code >> 3u) & 1u] >> (4u * (code & 7u));
    var bits = PADS & ~pattern_rows(pattern.m, pattern.words, word, pads);
    for (var row = 0u; row < 4u; row++) {
        bits |= select(0u, profile[at + row * pattern.stride], ((bases >> row) & 1u) == 1u);
    }
    return bits;
}

// Sets column_range, given the number of columns of every invocation's text. All invocations of the
// workgroup must call it.
fn set_column_range(columns: u32, has_task: bool, t: u32) {
    if (t == 0u) {
        atomicStore(&least_columns, 0xffffffffu);
        atomicStore(&most_columns, 0u);
    }
    workgroupBarrier();
    if (has_task) {
        atomicMin(&least_columns, columns);
        atomicMax(&most_columns, columns);
    }
    workgroupBarrier();
    if (t == 0u) {
        column_range = vec2<u32>(atomicLoad(&least_columns), atomicLoad(&most_columns));
    }
}

// Computes the next column for a code in place.
fn advance(column: ptr<function, ScanColumn>, code: u32) {
    // Differences along the last row of the word before: one more and one less, in the top bits.
    var above_more = 0u;
    var above_less = 0u;
    for (var w = 0u; w < WORDS; w++) {
        let more = (*column).more[w];
        let less = (*column).less[w];
        let equal = match_bits(code, w);
        let carry = above_less >> 31u;
        let same = (((equal & more) + more + carry) ^ more) | equal | less;
        let along_more = less | ~(same | more);
        let along_less = more & same;
        let shifted = (along_more << 1u) | (above_more >> 31u);
        (*column).more[w] = ((along_less << 1u) | carry) | ~(same | shifted);
        (*column).less[w] = shifted & same;
        above_more = along_more;
        above_less = along_less;
    }
    (*column).distance += (above_more >> 31u) - (above_less >> 31u);
}

// Searches the workgroup's pattern in the text of invocation t.
fn scan(pattern: ScanPattern, t: u32) {
    let task = pattern.first_task + t;
    let has_task = task < pattern.end_task;
    var text = vec2<u32>(0u, 0u);
    if (has_task) {
        text = text_at(pattern.first_place + t);
    }
    set_column_range(text.y, has_task, t);
    let range = workgroupUniformLoad(&column_range);
    let whole = range.x / SYMBOLS * SYMBOLS;

    var column: ScanColumn;
    for (var w = 0u; w < WORDS; w++) {
        column.more[w] = pattern_rows(pattern.m, pattern.words, w, WORDS - pattern.words);
        column.less[w] = 0u;
    }
    column.distance = pattern.m;
    // Distance and position in one number: its minimum is the first end with the least distance.
    var best = 0xffffffffu;
    let last = params.text_words - 1u;
    let shift = text.x % SYMBOLS * BITS;
    var index = text.x / SYMBOLS;
    var lower = texts[min(index, last)];
    var upper = texts[min(index + 1u, last)];
    for (var j = 0u; j < range.y; j += SYMBOLS) {
        let symbols = (lower >> shift) | ((upper << 1u) << (31u - shift));
        // Loads a word one step before it is needed.
        lower = upper;
        upper = texts[min(index + 2u, last)];
        index++;
        // Least distance in these columns, and the index of its first column.
        var low = 0xffffffffu;
        if (j < whole) {
            for (var i = 0u; i < SYMBOLS; i++) {
                advance(&column, (symbols >> (i * BITS)) & ((1u << BITS) - 1u));
                low = min(low, column.distance * SYMBOLS + i);
            }
        } else {
            // Some texts end in these columns. Their invocations continue, so that shuffles have
            // all lanes, but their ends no longer count.
            for (var i = 0u; i < SYMBOLS; i++) {
                advance(&column, (symbols >> (i * BITS)) & ((1u << BITS) - 1u));
                low = select(low, min(low, column.distance * SYMBOLS + i), j + i < text.y);
            }
        }
        let end = ((low / SYMBOLS) << POSITION_BITS) + j + low % SYMBOLS + 1u;
        best = select(best, min(best, end), low != 0xffffffffu);
    }
    if (has_task) {
        hand_over(task, best >> POSITION_BITS, vec2<u32>(best, 0u), 1u);
    }
}
