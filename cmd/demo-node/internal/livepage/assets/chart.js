// A chart of figures over the last minutes, by uPlot, with a key in words.

export const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export class Chart {
  // lines are {name, colour, points}, the colour that of a variable of the style
  // sheet; points draws dots and no line. format makes words of a value.
  constructor(parent, title, lines, format, span = 300) {
    this.lines = lines;
    this.format = format;
    this.span = span;
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
    figure.append(caption, this.box);
    parent.append(figure);
    this.draw();
    this.sizes = new ResizeObserver(() => this.size());
    this.sizes.observe(this.box);
    this.scheme = matchMedia("(prefers-color-scheme: dark)");
    this.repaint = () => this.draw();
    this.scheme.addEventListener("change", this.repaint);
  }

  draw() {
    this.plot?.destroy();
    const axis = { stroke: colour("--soft"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false }, font: "11px system-ui, sans-serif" };
    this.plot = new uPlot({
      width: this.width(), height: 130, pxAlign: 0,
      legend: { show: false }, cursor: { show: false }, padding: [8, 8, 0, 0],
      scales: { x: { time: false, range: () => [-this.span, 0] }, y: { range: (u, low, high) => [0, high > 0 ? high * 1.1 : 1] } },
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
    this.data = [at.map(t => t - now), ...values];
    this.plot.setData(this.data);
    const words = this.lines.map((line, i) => {
      const value = values[i].findLast(v => v !== null && v !== undefined);
      const text = line.name + (value === undefined ? "" : " " + this.format(value));
      if (this.keys[i].textContent !== text) this.keys[i].textContent = text;
      return text;
    });
    this.box.setAttribute("aria-label", `${this.title}: ${words.join(", ")}`);
  }

  close() {
    this.sizes.disconnect();
    this.scheme.removeEventListener("change", this.repaint);
    this.plot.destroy();
  }
}
