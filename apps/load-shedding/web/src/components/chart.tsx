import type { VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import UPlot from 'uplot'
import { toneStyle } from './tone-style.ts'

/** A line of a chart. */
export interface Series {
  readonly name: string
  /** The number of its colour. */
  readonly tone: number
  readonly values: readonly (number | null)[]
}

interface ChartProps {
  readonly title: string
  readonly note: string
  /** The time of each point, in seconds since the start. */
  readonly at: readonly number[]
  readonly series: readonly Series[]
  readonly format: (value: number) => string
}

const height = 150

/** A line chart over time. Its legend has the current values as text. */
export function Chart({ title, note, at, series, format }: ChartProps): VNode {
  const container = useRef<HTMLDivElement>(null)
  const plot = useRef<UPlot | undefined>(undefined)
  const lines = series.map(({ name, tone }) => `${name}/${tone}`).join()
  useEffect(() => {
    const element = container.current
    if (element === null) return
    const chart = new UPlot(optionsOf(element, series, format), [[]], element)
    plot.current = chart
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }))
    observer.observe(element)
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    const repaint = (): void => chart.redraw(false)
    scheme.addEventListener('change', repaint)
    return () => {
      observer.disconnect()
      scheme.removeEventListener('change', repaint)
      chart.destroy()
    }
    // Only a change of the lines needs a new chart. The next effect sets new values.
  }, [lines])
  useEffect(() => {
    plot.current?.setData([[...at], ...series.map(({ values }) => [...values])])
  }, [at.at(-1), at.length, lines])
  return (
    <figure class="chart">
      <figcaption>
        <h3>{title}</h3>
        <p class="hint">{note}</p>
        <ul>
          {series.map(({ name, tone, values }) => (
            <li key={name}>
              <span class="swatch" style={toneStyle(tone)} aria-hidden="true" />
              {name} <strong>{formatLatest(values.at(-1), format)}</strong>
            </li>
          ))}
        </ul>
      </figcaption>
      <div ref={container} class="plot" aria-hidden="true" />
    </figure>
  )
}

function formatLatest(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? '–' : format(value)
}

function optionsOf(element: HTMLElement, series: readonly Series[], format: (value: number) => string): UPlot.Options {
  const color =
    (name: string): (() => string) =>
    () =>
      getComputedStyle(element).getPropertyValue(name).trim()
  const grid = { stroke: color('--line'), width: 1 }
  const axis = { stroke: color('--soft'), grid, ticks: { show: false }, font: '11px system-ui, sans-serif' }
  return {
    width: element.clientWidth,
    height,
    legend: { show: false },
    cursor: { show: false },
    scales: { x: { time: false }, y: { range: (_, __, max) => [0, Math.max(max, 1) * 1.1] } },
    axes: [
      { ...axis, size: 22, incrs: [1, 5, 10, 30, 60], values: (_, marks) => marks.map((mark) => `${mark} s`) },
      { ...axis, size: 52, values: (_, marks) => marks.map(format) },
    ],
    series: [
      {},
      ...series.map(({ tone }) => ({
        stroke: color(`--tone-${tone}`),
        width: 2,
        spanGaps: true,
        points: { show: false },
      })),
    ],
  }
}
