// Shifts the clock of a process by CLOCK_OFFSET_MS, to simulate a machine with a wrong clock.
const offset = Number(process.env.CLOCK_OFFSET_MS ?? 0)
const RealDate = globalThis.Date

globalThis.Date = class Date extends RealDate {
  constructor(...args) {
    if (args.length === 0) super(RealDate.now() + offset)
    else super(...args)
  }
  static now() {
    return RealDate.now() + offset
  }
}
