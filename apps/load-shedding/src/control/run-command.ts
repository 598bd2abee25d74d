import type { Stage } from '../trial/open-stage.ts'
import type { Command } from './command.ts'

/** The parts of a stage that commands use. */
export interface CommandTarget extends Pick<Stage, 'setLevel' | 'setShedding' | 'restartAll'> {
  readonly fleet: Pick<Stage['fleet'], 'size' | 'overload' | 'kill' | 'restart'>
  readonly load: Pick<Stage['load'], 'burst'>
}

/** The number of heavy calls in a burst, per instance. */
const burstPerInstance = 2

/**
 * Starts a command, and does not wait for its end. Throws an `Error` if the instance does not exist. `onFailure`
 * receives the errors of restarts.
 */
export function runCommand(command: Command, stage: CommandTarget, onFailure: (error: unknown) => void): void {
  const { fleet, load } = stage
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
