// The tree next to the rows, and the orders of rows.

const tree = facts.tree;
// Distance of every node from the root, and its vertical position (in rows, from the top).
const depths = new Float64Array(tree ? tree.leaves + tree.joins.length : 0);
const heights = new Float64Array(depths.length);
let deepest = 0;
let hasLengths = false;

// Returns an order of rows in which no branches cross, as close as possible to the order of the file.
function treeOrder() {
  const rowOf = new Uint32Array(tree.leaves);
  facts.order.forEach((sequence, row) => { rowOf[sequence] = row; });
  const first = new Float64Array(depths.length);
  first.set(rowOf);
  tree.joins.forEach(([children], i) => { first[tree.leaves + i] = Math.min(first[children[0]], first[children[1]]); });
  const order = [], stack = [depths.length - 1];
  while (stack.length) {
    const node = stack.pop();
    if (node < tree.leaves) { order.push(rowOf[node]); continue; }
    const [a, b] = tree.joins[node - tree.leaves][0];
    if (first[a] < first[b]) stack.push(b, a); else stack.push(a, b);
  }
  return order;
}

const lengthOf = length => Math.max(0, length ?? 0);

function measureTree() {
  hasLengths = tree.joins.some(([, lengths]) => lengths.some(length => lengthOf(length) > 0));
  for (let i = tree.joins.length - 1; i >= 0; i--) {
    const [children, lengths] = tree.joins[i];
    children.forEach((child, side) => {
      depths[child] = depths[tree.leaves + i] + (hasLengths ? lengthOf(lengths[side]) : 1);
      deepest = Math.max(deepest, depths[child]);
    });
  }
}

// Sets the positions of leaves and inner nodes for rows in this order.
function placeTree(order) {
  order.forEach((row, place) => { heights[facts.order[row]] = place + .5; });
  tree.joins.forEach(([[a, b]], i) => { heights[tree.leaves + i] = (heights[a] + heights[b]) / 2; });
}

// Returns the lines of the tree between two heights in pixels, and the guides from its leaves to their
// rows, each as x, y, x, y. `yOf` converts a position to a height.
function treeLines(left, width, top, bottom, yOf) {
  const xOf = node => left + 6 + (deepest ? depths[node] / deepest : 0) * (width - 14);
  const branches = [], guides = [];
  tree.joins.forEach(([children], i) => {
    const x = xOf(tree.leaves + i), ys = children.map(child => yOf(heights[child]));
    const [low, high] = ys[0] < ys[1] ? ys : [ys[1], ys[0]];
    if (high < top || low > bottom) return;
    branches.push([x, Math.max(low, top - 2), x, Math.min(high, bottom + 2)]);
    children.forEach((child, side) => {
      const y = ys[side];
      if (y < top - 1 || y > bottom + 1) return;
      branches.push([x, y, xOf(child), y]);
      if (child < tree.leaves) guides.push([xOf(child) + 2, y, left + width - 2, y]);
    });
  });
  return { branches, guides };
}

// Draws the part of the tree between two heights.
function drawTree(context, left, width, top, bottom, yOf, style) {
  const { branches, guides } = treeLines(left, width, top, bottom, yOf);
  const stroke = (lines, colour, dashes) => {
    const path = new Path2D();
    for (const [x, y, toX, toY] of lines) { path.moveTo(x, y); path.lineTo(toX, toY); }
    context.strokeStyle = colour;
    context.setLineDash(dashes);
    context.stroke(path);
  };
  stroke(guides, style.line, [1, 3]);
  stroke(branches, style.tree, []);
  context.setLineDash([]);
}
