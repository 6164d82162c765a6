// Runs in the browser on each page. Returns what a reader would stumble over, as texts.
(() => {
  const found = [];
  const root = document.documentElement;
  // A phone zooms out of a page that is too wide, so innerWidth grows with it.
  const width = root.clientWidth;
  if (root.scrollWidth > width) {
    const wide = [...document.querySelectorAll("main *")].filter((e) => e.getBoundingClientRect().right > width + 1 && !e.closest(".scroll, pre"));
    found.push(`the page is ${root.scrollWidth} pixels wide in a window of ${width}` + (wide[0] ? `: ${wide[0].outerHTML.slice(0, 120)}` : ""));
  }

  // Colors are asked from a canvas, which knows every way to write them.
  const context = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
  const rgba = (color) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = color;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  const luminance = (color) => {
    const [r, g, b] = color.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => {
    const [dark, bright] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (bright + 0.05) / (dark + 0.05);
  };
  const background = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const color = rgba(getComputedStyle(e).backgroundColor);
      if (color[3] === 255) return color;
    }
    return rgba(getComputedStyle(document.body).backgroundColor);
  };

  const said = new Set();
  const say = (text) => { if (!said.has(text)) { said.add(text); found.push(text); } };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode, element = node.parentElement, word = node.textContent.trim().slice(0, 40);
    if (!word || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true })) continue;
    const style = getComputedStyle(element);

    // WCAG AA: 4.5, or 3 for large text.
    const large = parseFloat(style.fontSize) >= 24;
    const color = element.closest("svg") ? style.fill : style.color;
    const ratio = contrast(rgba(color), background(element));
    if (ratio < (large ? 3 : 4.5)) say(`contrast ${ratio.toFixed(1)} of "${word}"`);

    // In the middle of each line of a text there is that text and nothing else.
    if (element.closest("svg")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) {
      const x = box.x + box.width / 2, y = box.y + box.height / 2;
      const scroller = element.closest(".scroll, pre, .tree, .contents details");
      if (scroller) {
        const frame = scroller.getBoundingClientRect();
        if (x < frame.left || x > frame.right || y < frame.top || y > frame.bottom) continue;
      }
      const top = document.elementFromPoint(x, y);
      if (top && !top.contains(element) && !element.contains(top)) say(`"${word}" is covered by "${top.textContent.trim().slice(0, 40)}"`);
    }
  }
  return found;
})()
