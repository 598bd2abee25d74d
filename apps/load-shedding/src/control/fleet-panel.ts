import { setTimeout as sleep } from 'node:timers/promises'
import type { Panel } from '@x/cli/dev'
import type { Point, Snapshot } from '../board/snapshot.ts'
import { parseCommand } from './command.ts'
import { type CommandTarget, runCommand } from './run-command.ts'

/** The data that the panel shows, and the target of its commands. */
export interface PanelSource extends CommandTarget {
  snapshot(): Omit<Snapshot, 'points'>
  points(): readonly Point[]
}

const intervalMs = 150

/**
 * Creates the panel with the lanes, the charts and the commands. A slow page misses snapshots, but no point of the
 * history.
 */
export function fleetPanel(source: PanelSource): Panel {
  return {
    name: 'fleet',
    title: 'Instances and their calls',
    // The relative path is the same from `src` and from `dist`.
    script: new URL('../../dist-web/panel.js', import.meta.url),
    style: new URL('../../dist-web/panel.css', import.meta.url),
    async *data(signal) {
      let last = -1
      for (;;) {
        const points = source.points().filter(({ at }) => at > last)
        last = points.at(-1)?.at ?? last
        const snapshot: Snapshot = { ...source.snapshot(), points }
        yield snapshot
        await sleep(intervalMs, undefined, { signal })
      }
    },
    run: async (command) => {
      runCommand(parseCommand(command), source, (error) => console.error(error))
      return undefined
    },
  }
}
