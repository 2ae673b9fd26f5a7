// A chart of figures over the last minutes, by uPlot, with a key in words.

const dark = matchMedia("(prefers-color-scheme: dark)"), colours = new Map();
dark.addEventListener("change", () => colours.clear());

// colour is that of a variable of the style sheet now, which would cost the browser
// a look at the whole page each time.
export function colour(name) {
  if (!colours.has(name)) colours.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return colours.get(name);
}

const shortest = 60; // seconds in sight at least

export class Chart {
  // lines are {name, colour, points}, the colour that of a variable of the style
  // sheet; points draws dots and no line. format makes words of a value.
  constructor(parent, title, lines, format, span = 300, most = Infinity) {
    this.lines = lines;
    this.format = format;
    this.span = span;
    this.most = most; // values above are drawn there
    this.data = [[], ...lines.map(() => [])];
    const figure = document.createElement("figure");
    const caption = document.createElement("figcaption");
    caption.textContent = title;
    this.keys = lines.map(line => {
      const key = document.createElement("span"), mark = document.createElement("i"), text = document.createElement("span");
      key.className = "key";
      mark.style.background = `var(${line.colour})`;
      mark.className = line.points ? "dot" : "";
      key.append(mark, text);
      caption.append(key);
      return text;
    });
    this.box = document.createElement("div");
    this.box.className = "plot";
    this.box.setAttribute("role", "img");
    this.title = title;
    this.figure = figure;
    figure.append(caption, this.box);
    parent.append(figure);
    this.draw();
    this.sizes = new ResizeObserver(() => this.size());
    this.sizes.observe(this.box);
    this.repaint = () => this.draw();
    dark.addEventListener("change", this.repaint);
  }

  draw() {
    this.plot?.destroy();
    const axis = { stroke: colour("--soft"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false }, font: "11px system-ui, sans-serif" };
    this.plot = new uPlot({
      width: this.width(), height: 130, pxAlign: 0,
      legend: { show: false }, cursor: { show: false }, padding: [8, 18, 0, 0],
      scales: { x: { time: false, range: () => [-Math.min(this.span, Math.max(shortest, -(this.data[0][0] ?? 0))), 0] }, y: { range: (u, low, high) => [0, high > 0 ? high * 1.1 : 1] } },
      axes: [
        { ...axis, size: 24, values: (u, at) => at.map(t => t === 0 ? "now" : `${t} s`), space: 60 },
        { ...axis, size: 66, values: (u, at) => at.map(v => v === 0 ? "0" : this.format(v)), space: 32 },
      ],
      series: [{}, ...this.lines.map(line => ({
        stroke: colour(line.colour), width: 1.5, spanGaps: false,
        ...(line.points ? { paths: () => null, points: { show: true, size: 5, fill: colour(line.colour), stroke: colour(line.colour) } } : { points: { show: false } }),
      }))],
    }, this.data, this.box);
  }

  width() { return Math.max(200, this.box.clientWidth || 320); }

  size() {
    if (this.plot.width !== this.width()) this.plot.setSize({ width: this.width(), height: 130 });
  }

  // set shows values: the instants in seconds up to now, and the values of each line.
  set(at, values, now) {
    this.data = [at.map(t => t - now), ...values.map(line => this.most < Infinity ? line.map(v => v > this.most ? this.most : v) : line)];
    this.plot.setData(this.data);
    const words = this.lines.map((line, i) => {
      const value = values[i].findLast(v => v !== null && v !== undefined);
      const text = value === undefined ? line.name.replace(/, latest$/, "") : line.name + " " + this.format(value);
      if (this.keys[i].textContent !== text) this.keys[i].textContent = text;
      return text;
    });
    const said = `${this.title}: ${words.join(", ")}`;
    if (this.box.getAttribute("aria-label") !== said) this.box.setAttribute("aria-label", said);
  }

  hide(hidden) {
    if (this.figure.hidden !== hidden) this.figure.hidden = hidden;
  }

  close() {
    this.sizes.disconnect();
    dark.removeEventListener("change", this.repaint);
    this.plot.destroy();
  }
}
