// The burst window of the open peer: a strip of the last seconds in which each
// burst opens, extends and closes, and the same in words.

import { colour } from "./chart.js";
import { bytes, label, time } from "./units.js";

const span = 12; // seconds in sight
const most = 200; // bursts remembered
const unseen = "before this page looked"; // why a burst was closed, as far as we know

// write changes a text in place, and only if it is another.
function write(e, text) {
  if (e.firstChild?.data === text) return;
  if (e.firstChild) e.firstChild.data = text;
  else e.textContent = text;
}

export class Bursts {
  constructor(strip, state, closed) {
    this.state = state;
    this.closed = closed;
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("role", "img");
    strip.replaceChildren(this.canvas);
    new ResizeObserver(([entry]) => {
      this.width = entry.contentRect.width;
      if (this.window) this.draw();
    }).observe(strip);
    this.reset();
  }

  reset() {
    this.list = []; // {opened, last, deadline, gate, extended, reason}
    this.window = null;
    this.state.textContent = this.closed.textContent = "";
  }

  // take takes in the window as it is now.
  take(w) {
    const before = this.window;
    if (before && w.at < before.at) this.reset(); // a new connection
    this.window = w;
    const burst = this.list.at(-1);
    const same = burst && Math.abs(burst.opened - w.opened) < 1e-9;
    if (burst && !burst.reason && (!same || w.gate === "idle")) burst.reason = this.why(before, w);
    if (same) this.extend(burst, w);
    else if (w.last > 0) this.open(w, before);
    while (this.list.length > most) this.list.shift();
    this.words(w);
    this.draw();
  }

  open(w, before) {
    const burst = { opened: w.opened, last: w.last, deadline: w.deadline, gate: w.gate, extended: 0, reason: "" };
    if (w.gate === "idle") burst.reason = this.why(before, w);
    this.list.push(burst);
  }

  extend(burst, w) {
    if (w.deadline > burst.deadline + 1e-9) burst.extended++;
    burst.last = w.last;
    if (w.gate !== "idle") {
      burst.deadline = w.deadline;
      burst.gate = w.gate;
    }
  }

  // why is the reason for which a burst was closed between two looks.
  why(before, w) {
    const grown = before ? Object.keys(w.closed).filter(r => w.closed[r] > (before.closed[r] || 0)) : [];
    return grown[0] || unseen;
  }

  words(w) {
    const burst = this.list.at(-1);
    let text = "No burst yet.";
    if (w.gate !== "idle") {
      const left = w.deadline - w.at;
      text = `${w.gate === "open" ? "Open" : "Tripped, to be extended no more"} for ${time(w.at - w.opened)}; ` +
        `${left > 0 ? `closes in ${time(left)} unless more comes` : "about to close"}; ${bytes(w.bytes)}, of which ${bytes(w.covered)} vetted.`;
    } else if (burst) {
      text = `Idle. The last burst ${burst.last > burst.opened ? "took " + time(burst.last - burst.opened) : "was a single read"} and ${burst.reason === unseen ? "ended " + unseen : "was closed: " + label(burst.reason)}.`;
    }
    const fetches = w.fetches ? ` ${w.fetches} ${w.fetches === 1 ? "fetch" : "fetches"} outstanding.` : "";
    write(this.state, text + fetches);
    const closed = Object.entries(w.closed).filter(([, n]) => n > 0).map(([r, n]) => `${label(r)} ${n}`);
    write(this.closed, (closed.length ? `Closed by: ${closed.join(", ")}. ` : "") +
      `Silence: ours ${time(w.ours)}, the peer's ${time(w.peers)}. Cookies unanswered: ${w.outstanding}${w.front ? `, the oldest for ${time(w.front)}` : ""}.`);
    const said = `The burst windows of the last ${span} seconds. ${text}`;
    if (this.canvas.getAttribute("aria-label") !== said) this.canvas.setAttribute("aria-label", said);
  }

  draw() {
    const canvas = this.canvas, ratio = devicePixelRatio || 1;
    const width = this.width, height = 64;
    if (!width) return;
    if (canvas.width !== Math.round(width * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const c = canvas.getContext("2d"), now = this.window.at, ahead = 1.5;
    const x = t => width * (t - now + span) / (span + ahead);
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, width, height);
    c.font = "11px system-ui, sans-serif";
    this.scale(c, x, now, height);
    for (const b of this.list) if (b.deadline > now - span) this.bar(c, x, b);
    c.fillStyle = colour("--text");
    c.fillRect(x(now), 4, 1, height - 20);
  }

  scale(c, x, now, height) {
    c.fillStyle = colour("--soft");
    c.textAlign = "center";
    for (let s = 0; s < span; s += 3) {
      c.fillText(s ? `\u2212${s} s` : "now", x(now - s), height - 3);
    }
    c.fillStyle = colour("--line");
    c.fillRect(0, height - 16, x(now + 9), 1);
  }

  bar(c, x, b) {
    const main = colour(b.gate === "tripped" ? "--bad" : "--plot-1"), left = x(b.opened), right = Math.max(x(b.last), left + 2);
    c.fillStyle = main;
    c.fillRect(left, 18, right - left, 24);
    if (!b.reason) { // still open: until when, unless it is extended
      c.globalAlpha = 0.3;
      c.fillRect(right, 18, Math.max(0, x(b.deadline) - right), 24);
      c.globalAlpha = 1;
    } else {
      c.fillStyle = colour("--soft");
      c.fillRect(right, 12, 1.5, 30);
    }
    if (right - left > 44 && b.reason && b.reason !== unseen) {
      c.fillStyle = colour("--soft");
      c.textAlign = "right";
      c.fillText(label(b.reason), right, 10);
    }
  }
}
