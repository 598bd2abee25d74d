import type { VNode } from 'preact'
import type { LoadLevel, Snapshot } from '../../../src/board/snapshot.ts'
import type { SendCommand } from '../send-command.ts'

interface ControlsProps {
  readonly sendCommand: SendCommand
  readonly snapshot: Snapshot
}

const levels: readonly (readonly [LoadLevel, string])[] = [
  ['off', 'No load'],
  ['steady', 'Steady'],
  ['heavy', 'Heavy'],
]

/** The commands for the whole fleet. */
export function Controls({ sendCommand, snapshot }: ControlsProps): VNode {
  const { sheds, isRolling } = snapshot
  const restartAll = (): void => {
    if (!isRolling) void sendCommand({ kind: 'restartAll' }, 'Every instance is restarted in turn')
  }
  return (
    <section class="controls" aria-label="The whole fleet">
      <label>
        <input
          type="checkbox"
          role="switch"
          checked={sheds}
          onChange={() => void sendCommand({ kind: 'shedding', on: !sheds }, `Shedding is ${sheds ? 'off' : 'on'}`)}
        />{' '}
        Shedding
      </label>
      <fieldset class="levels">
        <legend class="visually-hidden">Load</legend>
        {levels.map(([level, name]) => (
          <label key={level}>
            <input
              type="radio"
              name="level"
              checked={snapshot.level === level}
              onChange={() => void sendCommand({ kind: 'level', level }, `Load: ${name}`)}
            />
            <span>{name}</span>
          </label>
        ))}
      </fieldset>
      <button type="button" onClick={() => void sendCommand({ kind: 'burst' }, 'A burst of heavy calls was sent')}>
        Burst of heavy calls
      </button>
      <button type="button" aria-disabled={isRolling} onClick={restartAll}>
        {isRolling ? 'Restarting in turn …' : 'Restart all in turn'}
      </button>
    </section>
  )
}
