import type { Comparison } from './compare.ts'
import type { Mode } from './options.ts'

const modes: readonly { readonly mode: Mode; readonly name: string; readonly color: string }[] = [
  { mode: 'none', name: 'no shedding', color: '#9aa0a6' },
  { mode: 'shedding', name: 'shedding', color: '#1a73e8' },
  { mode: 'oracle', name: 'oracle', color: '#188038' },
]

const size = { left: 170, right: 90, row: 54, bar: 12, top: 50, width: 900 }

/**
 * Returns an SVG document with the p99 of each scenario and mode as bars. The bar of shedding also has its hand-offs
 * per call.
 */
export function chartOf(comparisons: readonly Comparison[]): string {
  const max = Math.max(...comparisons.flatMap(({ results }) => modes.map(({ mode }) => results[mode].p99Ms)))
  const scale = (size.width - size.left - size.right) / max
  const height = size.top + comparisons.length * size.row + 10
  const rows = comparisons.map((comparison, index) => rowOf(comparison, size.top + index * size.row, scale))
  const legend = modes.map(
    ({ name, color }, index) =>
      `<rect x="${size.left + index * 130}" y="26" width="12" height="12" fill="${color}"/>${text(size.left + index * 130 + 18, 36, name)}`,
  )
  const [first] = comparisons
  const title = first === undefined ? '' : `p99 of a call, ${first.instances} instances, ${first.balancer}`
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${size.width}" height="${height}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="white"/>
${text(10, 18, title)}
${[...legend, ...rows].join('\n')}
</svg>
`
}

function rowOf({ scenario, results }: Comparison, top: number, scale: number): string {
  const bars = modes.map(({ mode, color }, index) => {
    const { p99Ms, movesPerCall } = results[mode]
    const y = top + index * (size.bar + 2)
    const moves = mode === 'shedding' ? `, ${movesPerCall.toFixed(2)} moves` : ''
    const label = text(size.left + p99Ms * scale + 6, y + 10, `${(p99Ms / 1000).toFixed(1)} s${moves}`)
    return `<rect x="${size.left}" y="${y}" width="${(p99Ms * scale).toFixed(1)}" height="${size.bar}" fill="${color}"/>${label}`
  })
  return [text(10, top + 24, scenario), ...bars].join('\n')
}

function text(x: number, y: number, content: string): string {
  return `<text x="${x.toFixed(0)}" y="${y}">${content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</text>`
}
