import { isReached, type Reading, wanted, wantedText } from '../wanted.ts'

/** The rows of a table in Markdown: what was wanted, what was measured, and the figures of both sides. */
export function ratioTable(readings: readonly Reading[]): readonly string[] {
  const head = ['| what | wanted | measured | ours | floor | official v2 |', '| --- | --- | --- | --- | --- | --- |']
  const rows = readings.map((reading) => {
    const { id, value, ours, floor, peer } = reading
    const measured = `${value.toFixed(2)} x${isReached(reading) ? '' : ', not reached'}`
    const cells = [
      wanted[id].what,
      wantedText(id),
      measured,
      ours,
      floor,
      peer === undefined ? '–' : `${peer.toFixed(2)} x`,
    ]
    return `| ${cells.join(' | ')} |`
  })
  return [...head, ...rows]
}
