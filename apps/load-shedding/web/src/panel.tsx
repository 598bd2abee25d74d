import './style.css'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { definePanel, type PanelProps } from '@x/cli/web/panel.ts'
import type { Snapshot } from '../../src/board/snapshot.ts'
import { Charts } from './components/charts.tsx'
import { Controls } from './components/controls.tsx'
import { Lanes } from './components/lanes.tsx'
import { Sums } from './components/sums.tsx'
import type { SendCommand } from './send-command.ts'

definePanel('fleet', FleetPanel)

function FleetPanel({ data: snapshot, send }: PanelProps<Snapshot>): VNode {
  const [announcement, setAnnouncement] = useState('')
  if (snapshot === undefined) return <p class="hint">Waiting for the instances …</p>
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
      <Charts points={snapshot.points} lanes={snapshot.lanes} />
      <p class="visually-hidden" role="status" data-announcement>
        {announcement}
      </p>
    </>
  )
}
