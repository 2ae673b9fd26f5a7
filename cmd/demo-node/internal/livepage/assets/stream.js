// Server-sent events that come again by themselves. The browser reconnects where a
// connection broke, but gives up where it was refused, as while a node restarts.

const longest = 10000; // ms between attempts; longer keeps people waiting, shorter bothers the node

export class Stream {
  // handlers are functions by the name of the event, given its data; state is told
  // "live" or "lost".
  constructor(url, handlers, state = () => {}) {
    this.url = url;
    this.handlers = handlers;
    this.state = state;
    this.wait = 500;
    this.open();
  }

  open() {
    const source = this.source = new EventSource(this.url);
    source.onopen = () => {
      this.wait = 500;
      this.state("live");
    };
    source.onerror = () => {
      this.state("lost");
      if (source.readyState !== EventSource.CLOSED) return;
      this.timer = setTimeout(() => this.open(), this.wait);
      this.wait = Math.min(2 * this.wait, longest);
    };
    for (const [name, handle] of Object.entries(this.handlers)) {
      source.addEventListener(name, message => handle(JSON.parse(message.data)));
    }
  }

  close() {
    clearTimeout(this.timer);
    this.source.close();
  }
}
