import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { CallView, Snapshot } from '../../../src/board/snapshot.ts'
import { type Place, placeCalls, widthOf } from '../lanes/place-calls.ts'
import type { SendCommand } from '../send-command.ts'
import { LaneHead } from './lane-head.tsx'
import { toneStyle } from './tone-style.ts'

interface LanesProps {
  readonly sendCommand: SendCommand
  readonly snapshot: Snapshot
}

/** The positions of the tracks of all lanes, in pixels from the top left corner of the section. */
interface Geometry {
  readonly left: number
  readonly width: number
  readonly tops: ReadonlyMap<number, number>
}

const rows = 2
const cellWidth = 30
const cellHeight = 30

/** The lanes of the clients and of all instances, with the calls as blocks. */
export function Lanes({ sendCommand, snapshot }: LanesProps): VNode {
  const section = useRef<HTMLElement>(null)
  const [geometry, setGeometry] = useState<Geometry>({ left: 0, width: 0, tops: new Map() })
  const places = useRef<ReadonlyMap<string, Place>>(new Map())
  useEffect(() => {
    const element = section.current
    if (element === null) return
    const observer = new ResizeObserver(() => setGeometry(measure(element)))
    observer.observe(element)
    return () => observer.disconnect()
  }, [snapshot.lanes.length])

  const columns = Math.max(3, Math.floor(geometry.width / cellWidth))
  places.current = placeCalls(places.current, snapshot.calls, { columns, rows })
  const countOpenCalls = (instance: number): number =>
    snapshot.calls.filter((call) => call.instance === instance && call.state === 'open').length
  return (
    <section class="lanes" aria-label="Instances" ref={section}>
      <div class="lane clients">
        <div class="lane-head">
          <h3>Clients</h3>
          <p class="hint">{formatCount(countOpenCalls(0), 'call')} with clients or in transit</p>
        </div>
        <div class="lane-track" data-track="0" />
      </div>
      {snapshot.lanes.map((lane) => (
        <div
          class={`lane ${lane.status}${lane.isOverloaded ? ' overloaded' : ''}`}
          key={lane.instance}
          data-lane={lane.instance}
          data-pid={lane.pid}
        >
          <LaneHead sendCommand={sendCommand} lane={lane} calls={countOpenCalls(lane.instance)} />
          <div class="lane-track" data-track={lane.instance} />
        </div>
      ))}
      <div class="blocks" aria-hidden="true">
        {snapshot.calls.map((call) => (
          <Block key={call.call} call={call} place={places.current.get(call.call)} {...{ columns, geometry }} />
        ))}
      </div>
      <p class="legend hint">
        A wide block is a heavy call, a narrow block a light call. The filled part is its progress. The colour is that
        of the instance that started it, and the number counts its hand-offs.
      </p>
    </section>
  )
}

interface BlockProps {
  readonly call: CallView
  readonly place: Place | undefined
  readonly columns: number
  readonly geometry: Geometry
}

function Block({ call, place, columns, geometry }: BlockProps): VNode | null {
  const top = place === undefined ? undefined : geometry.tops.get(place.instance)
  if (place === undefined || top === undefined) return null
  const x = geometry.left + (place.cell % columns) * cellWidth
  const y = top + Math.floor(place.cell / columns) * cellHeight
  const box = { transform: `translate(${x}px, ${y}px)`, width: `${widthOf(call) * cellWidth - 4}px` }
  return (
    <div class={`block ${call.state}`} style={{ ...toneStyle(call.origin), ...box }} data-call={call.call}>
      <div class="done-part" style={{ transform: `scaleX(${call.progress})` }} />
      <span>{call.state === 'lost' ? '×' : call.moves > 0 ? call.moves : ''}</span>
    </div>
  )
}

function measure(section: HTMLElement): Geometry {
  const tops = new Map<number, number>()
  let [left, width] = [0, 0]
  for (const track of section.querySelectorAll<HTMLElement>('[data-track]')) {
    tops.set(Number(track.dataset['track']), track.offsetTop)
    left = track.offsetLeft
    width = track.offsetWidth
  }
  return { left, width, tops }
}

function formatCount(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`
}
