import type { Stage } from '../trial/open-stage.ts'
import type { Command } from './command.ts'

/** The targets of a command. */
export interface Commanded extends Pick<Stage, 'setLevel' | 'setShedding' | 'roll'> {
  readonly fleet: Pick<Stage['fleet'], 'size' | 'overload' | 'kill' | 'restart'>
  readonly load: Pick<Stage['load'], 'burst'>
}

/** Heavy calls of a burst, per instance. */
const burstPerInstance = 2

/**
 * Does what is asked, without waiting for its end; false where there is no such instance. `onFailure` is told what goes
 * wrong later.
 */
export function obey(asked: Command, stage: Commanded, onFailure: (error: unknown) => void): boolean {
  const { fleet, load } = stage
  if ('instance' in asked && asked.instance > fleet.size) return false
  switch (asked.do) {
    case 'overload':
      fleet.overload(asked.instance, asked.on)
      break
    case 'kill':
      fleet.kill(asked.instance)
      break
    case 'restart':
      fleet.restart(asked.instance).catch(onFailure)
      break
    case 'roll':
      stage.roll().catch(onFailure)
      break
    case 'shedding':
      stage.setShedding(asked.on)
      break
    case 'burst':
      load.burst(burstPerInstance * fleet.size)
      break
    case 'level':
      stage.setLevel(asked.level)
  }
  return true
}
