import type { Snapshot } from '../board/snapshot.ts'
import type { PanelSource } from '../control/fleet-panel.ts'

/** A stage without processes. Tests set its data, and read the commands that it received. */
export interface FakeStage extends PanelSource {
  /** The received commands, in order. */
  readonly commands: readonly string[]
  /** Changes the snapshot. */
  update(changes: Partial<Snapshot>): void
}

const lane = { status: 'ready', isOverloaded: false, eventLoopDelayMs: 4, isReady: true, moved: 0 } as const

/** Creates a stage with two instances and no calls. */
export function createFakeStage(): FakeStage {
  const commands: string[] = []
  let snapshot: Snapshot = {
    balancer: 'cluster',
    url: 'http://127.0.0.1:4531/mcp',
    sheds: true,
    level: 'steady',
    isRolling: false,
    lanes: [
      { ...lane, instance: 1, pid: 101 },
      { ...lane, instance: 2, pid: 102 },
    ],
    calls: [],
    totals: { completed: 0, lost: 0, wrong: 0, moved: 0, chunks: 0, repeated: 0 },
    recent: { perSecond: 0, p50Ms: null, p99Ms: null },
    points: [],
  }
  const recordCommand = (...words: readonly unknown[]): void => void commands.push(words.join(' '))
  return {
    commands,
    update(changes) {
      snapshot = { ...snapshot, ...changes }
    },
    snapshot: () => snapshot,
    setLevel: (level) => recordCommand('level', level),
    setShedding: (on) => recordCommand('shedding', on),
    restartAll: async () => recordCommand('restartAll'),
    load: { burst: (count) => recordCommand('burst', count) },
    fleet: {
      size: 2,
      overload: (instance, on) => recordCommand('overload', instance, on),
      kill: (instance) => recordCommand('kill', instance),
      restart: async (instance) => recordCommand('restart', instance),
    },
  }
}
