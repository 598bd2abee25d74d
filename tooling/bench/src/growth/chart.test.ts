import { expect, test } from 'vitest'
import { drawChart } from './chart.ts'

const lines = [{ name: 'ours', values: [2, 4] }]
const base = { title: 'CPU & memory', sizes: ['1', '10'], logarithmic: false, lines }

/** Returns the texts of an SVG in document order. */
function textsOf(svg: string): readonly string[] {
  return [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map(([, text = '']) => text)
}

test('a chart has its title, the names of its lines, ticks from 0, and sizes', () => {
  expect(textsOf(drawChart(base))).toEqual(['CPU &amp; memory', 'ours', '0', '1', '2', '3', '4', '1', '10'])
})

test('the largest value is at the top of the plot, and 0 at the bottom', () => {
  const svg = drawChart({ ...base, lines: [{ name: 'ours', values: [0, 4] }] })
  expect(svg).toContain('points="64,222 328,62"')
})

test('a logarithmic axis has equal distances between powers of ten', () => {
  const svg = drawChart({
    ...base,
    sizes: ['1', '2', '3'],
    logarithmic: true,
    lines: [{ name: 'a', values: [1, 10, 100] }],
  })
  expect(svg).toContain('points="64,222 196,142 328,62"')
})

test.each([
  ['one value', [5, 5], ['0', '1', '2', '3', '4', '5']],
  ['fractions', [0.1, 0.31], ['0', '0.1', '0.2', '0.3', '0.4']],
  ['thousands', [10, 4200], ['0', '1,000', '2,000', '3,000', '4,000', '5,000']],
])('ticks of %s are round', (_, values, ticks) => {
  const svg = drawChart({ ...base, lines: [{ name: 'a', values }] })
  expect(textsOf(svg).slice(2, 2 + ticks.length)).toEqual(ticks)
})

test('an image has colours for light and dark schemes and no reference to another file', () => {
  const svg = drawChart(base)
  expect(svg).toContain('prefers-color-scheme: dark')
  expect(svg.replace('http://www.w3.org/2000/svg', '')).not.toMatch(/href|url\(|https?:/)
})
