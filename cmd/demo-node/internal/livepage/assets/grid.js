// The table of peers: a grid that has elements for the rows in sight only, so that
// five hundred cost what twenty do. The focus stays on the grid itself, and
// aria-activedescendant says where one is: rows come, go and change places.

import { both, bytes, dash, label, rate, time } from "./units.js";

// A column is its class, its title, and the text of a peer.
const columns = [
  ["rank", "#", (p, rank) => String(rank)],
  ["name", "Peer", p => p.peer],
  ["rtt", "RTT, p95", p => both(p.base, p.p95)],
  ["rate", "Rate", p => rate(p.rate)],
  ["coverage", "Coverage", p => bytes(p.coverage)],
  ["expected", "Expected", p => time(p.expected)],
  ["last", "Predicted \u2192 actual", p => p.claim ? time(p.claim) + " \u2192 " + time(p.actual) : dash],
  ["gate", "Window", p => p.gate === "idle" ? "idle" : p.gate + (p.closes > 0 ? ", " + time(p.closes) : "")],
  ["verdict", "Verdict", p => standing(p)],
  ["reason", "Reason", p => p.reason || dash],
];

const spare = 6; // rows beyond what is in sight; more scroll without a blank, and cost as many

export function standing(p) {
  const words = [p.verdict ? label(p.verdict) : dash];
  if (p.demoted) words.push("demoted");
  else if (p.newcomer) words.push("new");
  return words.join(", ");
}

// tone is how a peer stands at a glance; the words say it too.
export function tone(p) {
  if (p.bad || p.demoted) return "bad";
  return p.verdict && p.verdict !== "clear" ? "wary" : "fine";
}

// mostMoving is how many peers are shown moving from rank to rank. Of more so many
// move at once that nobody can follow, and a browser without a GPU stutters.
const mostMoving = 100;

const still = matchMedia("(prefers-reduced-motion: reduce)");

const element = (role, className) => {
  const e = document.createElement("div");
  e.setAttribute("role", role);
  if (className) e.className = className;
  return e;
};

// set sets an attribute that has another value.
function set(e, name, value) {
  value = String(value);
  if (e.getAttribute(name) !== value) e.setAttribute(name, value);
}

export class Grid {
  constructor(root, open) {
    this.root = root;
    this.openPeer = open;
    this.peers = []; // places in the table, in the order to show
    this.places = new Map(); // name to place in peers
    this.shown = new Map(); // name to element
    this.free = [];
    this.made = 0;
    this.active = null; // the name of the peer one is at
    this.opened = null; // and of the one that is open
    this.build();
    root.addEventListener("scroll", () => this.scrolled(), { passive: true });
    root.addEventListener("keydown", e => this.key(e));
    root.addEventListener("focus", () => this.focused());
    root.addEventListener("click", e => this.clicked(e));
    new ResizeObserver(() => this.resized()).observe(root);
  }

  build() {
    const root = this.root;
    root.setAttribute("role", "grid");
    root.setAttribute("aria-label", "Peers in rank order");
    root.setAttribute("aria-colcount", columns.length);
    root.tabIndex = 0;
    this.head = element("rowgroup", "head");
    const titles = element("row", "row");
    titles.setAttribute("aria-rowindex", 1);
    for (const [name, title] of columns) {
      const cell = element("columnheader", name);
      cell.textContent = title;
      titles.append(cell);
    }
    this.head.append(titles);
    this.body = element("rowgroup", "body");
    root.append(this.head, this.body);
    this.resized();
  }

  // resized reads what the style sheet makes of the width.
  resized() {
    this.height = parseFloat(getComputedStyle(this.body).getPropertyValue("--row")) || 36;
    this.view = this.root.clientHeight;
    this.top = this.root.scrollTop;
    for (const e of this.shown.values()) e.place = -1;
    this.schedule();
  }

  // scrolled notes where one is. To ask while drawing would have the browser lay the
  // page out then and there, whatever else is to change in the same frame.
  scrolled() {
    this.top = this.root.scrollTop;
    this.schedule();
  }

  schedule() {
    if (this.due) return;
    this.due = requestAnimationFrame(() => {
      this.due = 0;
      this.draw(false);
    });
  }

  // show takes in those peers of a table that stand at some places of it, in the
  // order to show. Call it from an animation frame.
  show(table, peers) {
    this.table = table;
    this.peers = peers;
    this.places = new Map(peers.map((place, i) => [table.name(place), i]));
    set(this.root, "aria-rowcount", peers.length + 1);
    if (this.active && !this.places.has(this.active)) this.active = null;
    this.draw(!still.matches && peers.length <= mostMoving);
  }

  draw(moving) {
    const total = this.peers.length * this.height, view = this.view;
    const top = Math.min(this.top, Math.max(0, total - view + this.height)); // the browser says later if it had to move
    const from = Math.max(0, Math.floor(top / this.height) - spare);
    const to = Math.min(this.peers.length, Math.ceil((top + view) / this.height) + spare);
    if (total !== this.total) this.body.style.height = (this.total = total) + "px";
    for (const [name, e] of this.shown) {
      const i = this.places.get(name);
      if (i === undefined || i < from || i >= to) this.release(name, e);
    }
    for (let i = from; i < to; i++) this.put(i, moving);
    // Those that went out of sight as others came into it never were hidden between.
    for (const e of this.free) if (!e.hidden) e.hidden = true;
    this.mark();
  }

  release(name, e) {
    this.shown.delete(name);
    e.place = -1;
    this.free.push(e);
  }

  put(i, moving) {
    const place = this.peers[i], name = this.table.name(place);
    let e = this.shown.get(name);
    if (!e) {
      e = this.free.pop() || this.make();
      if (e.hidden) e.hidden = false;
      e.peer = name;
      this.shown.set(name, e);
    }
    if (e.place !== i) {
      const to = `translateY(${i * this.height}px)`;
      if (moving && e.place >= 0) e.animate([{ transform: e.style.transform }, { transform: to }], { duration: 200, easing: "ease-out" });
      e.style.transform = to;
      e.place = i;
      set(e, "aria-rowindex", i + 2);
    }
    // Scrolling changes nothing of who stays in sight.
    if (e.filled === this.table && e.filledPlace === place) return;
    e.filled = this.table;
    e.filledPlace = place;
    this.fill(e, this.table.row(place), place + 1);
  }

  make() {
    const e = element("row", "row");
    e.id = "row-" + this.made++;
    e.place = -1;
    e.texts = [];
    e.cells = columns.map(([name]) => { // their text nodes, which change in place
      const cell = element("gridcell", name), text = document.createTextNode("");
      cell.append(text);
      e.append(cell);
      return text;
    });
    this.body.append(e);
    return e;
  }

  fill(e, p, rank) {
    columns.forEach(([, , text], i) => {
      const now = text(p, rank);
      if (e.texts[i] === now) return;
      e.texts[i] = now;
      e.cells[i].data = now;
    });
    set(e, "data-tone", tone(p));
    set(e, "data-gate", p.gate);
  }

  // mark shows where one is, and what is open.
  mark() {
    for (const [name, e] of this.shown) {
      if (e.classList.contains("active") !== (name === this.active)) e.classList.toggle("active");
      set(e, "aria-selected", name === this.opened);
    }
    const e = this.shown.get(this.active);
    if (e) set(this.root, "aria-activedescendant", e.id);
    else this.root.removeAttribute("aria-activedescendant");
  }

  setOpened(name) {
    this.opened = name;
    this.mark();
  }

  go(i) {
    if (!this.peers.length) return;
    i = Math.max(0, Math.min(this.peers.length - 1, i));
    this.active = this.table.name(this.peers[i]);
    const head = this.head.offsetHeight, view = this.root.clientHeight - head, top = i * this.height;
    if (top < this.root.scrollTop) this.root.scrollTop = top;
    else if (top + this.height > this.root.scrollTop + view) this.root.scrollTop = top + this.height - view;
    this.top = this.root.scrollTop;
    this.draw(false);
  }

  focused() {
    if (!this.active && this.peers.length) {
      this.active = this.table.name(this.peers[Math.min(this.peers.length - 1, Math.ceil(this.root.scrollTop / this.height))]);
      this.mark();
    }
  }

  key(e) {
    if (e.altKey || e.ctrlKey || e.metaKey) return;
    const at = this.places.get(this.active) ?? -1;
    const page = Math.max(1, Math.floor((this.root.clientHeight - this.head.offsetHeight) / this.height) - 1);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: this.peers.length - 1 }[e.key];
    if (to !== undefined) this.go(to);
    else if ((e.key === "Enter" || e.key === " ") && this.active) this.openPeer(this.active);
    else return;
    e.preventDefault();
  }

  clicked(e) {
    const row = e.target.closest(".body .row");
    if (!row) return;
    this.active = row.peer;
    this.mark();
    this.openPeer(row.peer);
  }
}
