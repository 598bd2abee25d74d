import type { VNode } from 'preact'
import type { LaneView } from '../../../src/board/snapshot.ts'
import type { SendCommand } from '../send-command.ts'
import { toneStyle } from './tone-style.ts'

interface LaneHeadProps {
  readonly sendCommand: SendCommand
  readonly lane: LaneView
  readonly calls: number
}

const statusLabels = { starting: 'starting', ready: 'running', draining: 'draining', down: 'down' } as const

/** The state of an instance, and the buttons of its commands. */
export function LaneHead({ sendCommand, lane, calls }: LaneHeadProps): VNode {
  const { instance, isOverloaded } = lane
  const name = `Instance ${instance}`
  return (
    <div class="lane-head">
      <h3>
        <span class="swatch" style={toneStyle(instance)} aria-hidden="true" />
        {name} <span class="status">{stateOf(lane)}</span>
        {isNotReady(lane) && <span class="status warning">not ready</span>}
      </h3>
      <p class="hint">
        {calls === 1 ? '1 call' : `${calls} calls`} · {Math.round(lane.eventLoopDelayMs)} ms delay · {lane.moved} handed
        off
      </p>
      <div class="lane-actions">
        <LaneButton
          lane={lane}
          label={`Overload ${instance}`}
          isPressed={isOverloaded}
          onPress={() =>
            sendCommand(
              { kind: 'overload', instance, on: !isOverloaded },
              `${name} is ${isOverloaded ? 'no longer overloaded' : 'overloaded'}`,
            )
          }
        >
          Overload
        </LaneButton>
        <LaneButton
          lane={lane}
          label={`Drain and restart ${instance}`}
          onPress={() => sendCommand({ kind: 'restart', instance }, `${name} is restarted`)}
        >
          Restart
        </LaneButton>
        <LaneButton
          lane={lane}
          label={`Kill ${instance}`}
          onPress={() => sendCommand({ kind: 'kill', instance }, `${name} is killed`)}
        >
          Kill
        </LaneButton>
      </div>
    </div>
  )
}

interface LaneButtonProps {
  readonly lane: LaneView
  /** The accessible name, which includes the instance. */
  readonly label: string
  readonly isPressed?: boolean
  readonly onPress: () => Promise<void>
  readonly children: string
}

// `aria-disabled` keeps a disabled button focusable, so that a keyboard user does not lose the focus.
function LaneButton({ lane, label, isPressed, onPress, children }: LaneButtonProps): VNode {
  const isOff = lane.status !== 'ready'
  return (
    <button
      type="button"
      class="small"
      aria-label={label}
      aria-disabled={isOff}
      aria-pressed={isPressed}
      onClick={() => {
        if (!isOff) void onPress()
      }}
    >
      {children}
    </button>
  )
}

function stateOf({ status, isOverloaded }: LaneView): string {
  return status === 'ready' && isOverloaded ? 'overloaded' : statusLabels[status]
}

/** Returns true if a running instance is not ready, as after a long overload. Balancers then send it fewer requests. */
function isNotReady({ status, isReady }: LaneView): boolean {
  return status === 'ready' && !isReady
}
