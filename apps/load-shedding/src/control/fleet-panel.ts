import { setTimeout as sleep } from 'node:timers/promises'
import type { Panel } from '@x/cli/dev'
import type { Stage } from '../trial/open-stage.ts'
import { type Command, parseCommand } from './command.ts'

/** The parts of a stage that the panel shows and commands. */
export interface PanelSource extends Pick<Stage, 'snapshot' | 'setLevel' | 'setShedding' | 'restartAll'> {
  readonly fleet: Pick<Stage['fleet'], 'size' | 'overload' | 'kill' | 'restart'>
  readonly load: Pick<Stage['load'], 'burst'>
}

/** The number of heavy calls in a burst, per instance. */
const burstPerInstance = 2

const intervalMs = 150

/** Creates the panel with the lanes, the charts and the commands. */
export function fleetPanel(source: PanelSource): Panel {
  return {
    name: 'fleet',
    title: 'Instances and their calls',
    // The relative path is the same from `src` and from `dist`.
    script: new URL('../../dist-web/panel.js', import.meta.url),
    style: new URL('../../dist-web/panel.css', import.meta.url),
    async *data(signal) {
      for (;;) {
        yield source.snapshot()
        await sleep(intervalMs, undefined, { signal })
      }
    },
    run: async (command) => {
      runCommand(parseCommand(command), source)
      return undefined
    },
  }
}

/** Starts a command, and does not wait for its end. Throws an `Error` if the instance does not exist. */
function runCommand(command: Command, stage: PanelSource): void {
  const { fleet, load } = stage
  const onFailure = (error: unknown): void => console.error(error)
  if ('instance' in command && command.instance > fleet.size)
    throw new Error(`There is no instance ${command.instance}`)
  switch (command.kind) {
    case 'overload':
      fleet.overload(command.instance, command.on)
      break
    case 'kill':
      fleet.kill(command.instance)
      break
    case 'restart':
      fleet.restart(command.instance).catch(onFailure)
      break
    case 'restartAll':
      stage.restartAll().catch(onFailure)
      break
    case 'shedding':
      stage.setShedding(command.on)
      break
    case 'burst':
      load.burst(burstPerInstance * fleet.size)
      break
    case 'level':
      stage.setLevel(command.level)
  }
}
