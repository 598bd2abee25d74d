// Shifts the clock of a process by CLOCK_OFFSET_MS, as on a machine whose clock is wrong.
const offset = Number(process.env.CLOCK_OFFSET_MS ?? 0)
const RealDate = globalThis.Date

globalThis.Date = class Date extends RealDate {
  constructor(...parts) {
    if (parts.length === 0) super(RealDate.now() + offset)
    else super(...parts)
  }
  static now() {
    return RealDate.now() + offset
  }
}
