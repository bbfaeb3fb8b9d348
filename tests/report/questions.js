// Asked inside a report page; the answer goes to the page around it: width and what is wrong, or none.
(() => {
  const root = document.documentElement;
  const say = (what) => problems.push(what);
  if (root.scrollWidth > root.clientWidth) say(`page is ${root.scrollWidth} wide`);

  const light = (color) => {
    const [r, g, b] = color.match(/[\d.]+/g).map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (node) => {
    for (; node; node = node.parentElement) {
      const color = getComputedStyle(node).backgroundColor;
      if (color !== "rgba(0, 0, 0, 0)") return color;
    }
    return "rgb(255, 255, 255)";
  };
  for (const name of ["p", "h2", "th", "td", "td a", "caption", "figcaption", ".n"]) {
    const node = document.querySelector(name);
    if (!node) continue;
    const [a, b] = [light(getComputedStyle(node).color), light(behind(node))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) say(`${name} has a contrast of ${((a + 0.05) / (b + 0.05)).toFixed(1)}`);
  }

  for (const svg of document.querySelectorAll("figure svg"))
    if (!svg.getAttribute("aria-label")) say("a picture without words");
  if (!document.querySelector("figure svg")) say("no picture");

  // By the time: smallest first, then largest first.
  const table = document.querySelector("table");
  const heading = [...table.tHead.rows[0].cells].findIndex((cell) => cell.textContent === "time");
  const times = () => [...table.tBodies[0].rows].map((row) => parseFloat(row.cells[heading].dataset.v));
  for (const sign of [1, -1]) {
    table.tHead.rows[0].cells[heading].click();
    const now = times();
    if (now.some((v, i) => i > 0 && sign * (v - now[i - 1]) < 0)) say("a table does not sort");
  }
  parent.postMessage(`answers: ${innerWidth} ${problems.length ? problems.join("; ") : "none"}`, "*");
})();
