import { isReached, type Reading, wanted, wantedText } from '../wanted.ts'

/** Formats a Markdown table with the wanted value, the measured ratio, and the figures of both programs. */
export function ratioTable(readings: readonly Reading[]): readonly string[] {
  const header = ['| what | wanted | measured | ours | floor | official v2 |', '| --- | --- | --- | --- | --- | --- |']
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
  return [...header, ...rows]
}
