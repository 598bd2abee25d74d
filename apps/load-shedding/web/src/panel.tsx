import './style.css'
import type { VNode } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { definePanel, type PanelProps } from '@x/cli/web/panel.ts'
import type { Point, Snapshot } from '../../src/board/snapshot.ts'
import { Charts } from './components/charts.tsx'
import { Controls } from './components/controls.tsx'
import { Lanes } from './components/lanes.tsx'
import { Sums } from './components/sums.tsx'
import { mergePoints } from './merge-points.ts'
import type { SendCommand } from './send-command.ts'

definePanel('fleet', FleetPanel)

function FleetPanel({ data: snapshot, send }: PanelProps<Snapshot>): VNode {
  const points = useRef<readonly Point[]>([])
  const [announcement, setAnnouncement] = useState('')
  if (snapshot === undefined) return <p class="hint">Waiting for the instances …</p>
  points.current = mergePoints(points.current, snapshot.points)
  const sendCommand: SendCommand = (command, description) =>
    send(command).then(
      () => setAnnouncement(description),
      (error: unknown) => setAnnouncement(`The command failed: ${error instanceof Error ? error.message : error}`),
    )
  return (
    <>
      <Controls sendCommand={sendCommand} snapshot={snapshot} />
      <Sums totals={snapshot.totals} recent={snapshot.recent} />
      <Lanes sendCommand={sendCommand} snapshot={snapshot} />
      <Charts points={points.current} lanes={snapshot.lanes} />
      <p class="visually-hidden" role="status" data-announcement>
        {announcement}
      </p>
    </>
  )
}
