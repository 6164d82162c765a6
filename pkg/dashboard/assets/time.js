// The time line: what a group did since its first Job, by the phases of the ledger in its status. A phase has a height, which is
// told from others without colour, and words.

const phases = {
  Training: "training", Starting: "starting", Hang: "hang", Restart: "restart after a failure", Planned: "planned restart", Waiting: "waiting to start", Paused: "paused",
};

// exact is a duration to the tenth of a second below a minute.
function exact(seconds) {
  const s = Math.max(0, seconds);
  if (s < 60) return `${s.toFixed(1)}s`;
  const [m, h] = [Math.floor(s / 60), Math.floor(s / 3600)];
  return h ? `${h.toLocaleString("en")}h ${m % 60}m` : `${m}m ${Math.floor(s % 60)}s`;
}

export class TimeLine {
  // The place has elements of these ids; make is how the page makes elements.
  constructor(place, make) {
    this.place = place;
    this.make = make;
    this.at = (id) => place.querySelector(`#${id}`);
  }

  // show draws what the server says, or nothing.
  show(time) {
    this.time = time;
    this.place.hidden = !time?.phases.length;
    if (this.place.hidden) return;
    this.at("line").replaceChildren(...time.phases.map((phase) => {
      const part = this.make("span", { class: phase.name.toLowerCase(), title: `${phases[phase.name]}, ${this.length(phase)}${phase.text ? `: ${phase.text}` : ""}` });
      part.style.flexGrow = `${this.seconds(phase)}`;
      return part;
    }));
    this.grow(true);
  }

  seconds = (phase) => Math.max(0, (phase.to ?? Date.now()) - phase.from) / 1000;
  length = (phase) => (phase.to ? exact(this.seconds(phase)) : `since ${this.clock(phase.from)}`);
  clock = (at) => new Date(at).toLocaleTimeString("en-GB");

  // grow adds the time that has passed to what lasts.
  grow(always) {
    const { time } = this;
    if (!time?.phases.length || (!always && time.phases.at(-1).to)) return;
    const last = time.phases.at(-1), spent = { running: time.running, assembling: time.assembling, paused: time.paused };
    const now = Date.now();
    let from = time.at, since = Math.max(0, now - from);
    for (const [begin, end] of time.pauses ?? []) {
      const length = Math.max(0, Math.min(end, now) - Math.max(begin, from));
      if (!length) continue;
      spent.paused += length / 1000;
      since -= length;
      from = Math.min(end, now);
    }
    if (time.lasts) spent[time.lasts] += since / 1000;
    const starting = Math.min(time.starting, spent.running), paid = spent.running + spent.assembling;
    const facts = [["Goodput", paid > 0 ? `${((100 * (spent.running - starting)) / paid).toFixed(1)} %` : "-"], ["Running", exact(spent.running)],
      ["Of it starting", exact(starting)], ["Assembling", exact(spent.assembling)], ["Paused", exact(spent.paused)]];
    this.at("spent").replaceChildren(...facts.map(([term, text]) => this.make("div", {}, this.make("dt", {}, term), this.make("dd", {}, text))));
    this.at("line").lastElementChild.style.flexGrow = `${this.seconds(last)}`;
    const all = Object.keys(phases).map((name) => [name, time.phases.filter((phase) => phase.name === name)]).filter(([, of]) => of.length);
    const texts = all.map(([name, of]) => `${phases[name]}: ${exact(of.reduce((sum, phase) => sum + this.seconds(phase), 0))}${of.length > 1 ? ` in ${of.length}` : ""}`);
    this.at("phases").replaceChildren(...all.map(([name], i) => this.make("li", {}, this.make("span", { class: `sample ${name.toLowerCase()}` }), texts[i])));
    const span = `From ${this.clock(time.phases[0].from)} to ${last.to ? this.clock(last.to) : "now"}`;
    this.at("span").textContent = span;
    this.at("line").setAttribute("aria-label", `${span}: ${texts.join(", ")}`);
  }
}
