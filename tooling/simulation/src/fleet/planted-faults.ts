import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Plugin } from 'esbuild'

/** A fault that is planted in the code of a package, to see whether the simulation finds it. */
interface PlantedFault {
  readonly file: string
  readonly code: string
  readonly fault: string
}

/** The planted faults by name. */
export const plantedFaults = {
  'round-used-without-claim': {
    file: 'legacy/src/server/call/ask-client.ts',
    code: 'if (!storedRound.isShared && storedRound.mayBeShared !== true) return true',
    fault: 'if (round.id) return true',
  },
  'every-request-repeated': {
    file: 'client/src/request/resend.ts',
    code: 'const isAllowed = isUnbegun ||',
    fault: 'const isAllowed = true || isUnbegun ||',
  },
  'waiting-call-not-released': {
    file: 'legacy/src/server/call/ask-client.ts',
    code: '      releaseBytes()\n      releaseCall()',
    fault: '      releaseBytes()',
  },
  'bus-not-connected-again': {
    file: 'core/src/bus/bus-session.ts',
    code: 'if (endController.signal.aborted) return\n    }',
    fault: 'return\n    }',
  },
  'lease-not-compared': {
    file: 'tasks/src/engines/stored-task.ts',
    code: 'if (this.#token === undefined || this.#token !== token) return',
    fault: "if (this.#token === undefined || token === '') return",
  },
  'record-lost': {
    file: 'tasks/src/engines/stored-task.ts',
    code: 'for (const entry of entries) this.#entries.set(',
    fault: 'if (this.#attempt % 2 === 1) for (const entry of entries) this.#entries.set(',
  },
  'token-not-renewed': {
    file: 'tasks/src/engines/stored-task.ts',
    code: 'this.#token = crypto.randomUUID()',
    fault: 'this.#token ??= crypto.randomUUID()',
  },
  'answers-crossed': {
    file: 'tasks/src/engines/stored-task.ts',
    code: 'this.#responses.set(key, JSON.stringify(response))',
    fault: 'this.#responses.set(key, (globalThis.lastResponse ??= JSON.stringify(response)))',
  },
  'answer-never-sent-again': {
    file: 'tasks/src/client/input-request-tracker.ts',
    code: 'return tracked.listedCount < listedUntilLost',
    fault: 'return true',
  },
  'owner-not-compared': {
    file: 'tasks/src/engines/memory-store.ts',
    code: 'return owner === undefined || task.owner === owner ? task : undefined',
    fault: 'return task',
  },
  'change-not-published': {
    file: 'core/src/bus/network-bus.ts',
    code: 'await request((signal) => connector.send(text',
    fault: "if (!change.topic.startsWith('resource:')) await request((signal) => connector.send(text",
  },
  'sessions-mixed': {
    file: 'sessions/src/server/session.ts',
    code: 'this.#state = parser.parse(state, report)',
    fault: 'this.#state = (globalThis.lastState = parser.parse(globalThis.lastState ?? state, report))',
  },
  'outage-ends-session': {
    file: 'sessions/src/server/opened-session.ts',
    code: 'if (isRetryable(cause)) throw cause',
    fault: '',
  },
  'gateway-mixes-callers': {
    file: 'gateway/src/hop/host-identity.ts',
    code: 'key: JSON.stringify([call.context.get(clientSessionKey), client])',
    fault: "key: ''",
  },
} as const satisfies Record<string, PlantedFault>

/**
 * Faults that no seed has found so far, or whose part is not in the fleet. `guard` is the test of a package that fails
 * with the fault.
 */
export const guardedFaults = {
  'bus-does-not-catch-up': {
    file: 'core/src/bus/network-bus.ts',
    code: 'failures.end()\n      listeners.notifyGap()',
    fault: 'failures.end()',
    guard: 'core/src/bus/network-bus.test.ts',
  },
  'step-key-forgotten': {
    file: 'server/src/replay/run-journal.ts',
    code: 'return this.#journal.tryIds.get(key) ?? this.effectsId()',
    fault: 'return this.effectsId()',
    guard: 'server/src/replay/steps.test.ts',
  },
  'lost-lease-ignored': {
    file: 'tasks/src/server/worker/attempt.ts',
    code: "if (state === 'lost') this.stop({ kind: 'lost' })",
    fault: '',
    guard: 'tasks/src/server/worker/attempt-events.test.ts',
  },
  'gateway-never-probes': {
    file: 'gateway/src/upstream/availability.ts',
    code: 'if (this.#failures >= maxFailures && !this.#isAway) this.#startProbe()',
    fault: '',
    guard: 'gateway/src/gateway/gateway-outages.test.ts',
  },
  'gateway-never-probes-again': {
    file: 'gateway/src/upstream/availability.ts',
    code: 'if (this.#clock.monotonicNow() >= this.#nextProbeAt) this.#startProbe()',
    fault: '',
    guard: 'gateway/src/gateway/gateway-outages.test.ts',
  },
} as const satisfies Record<string, PlantedFault & { readonly guard: string }>

/** Returns the esbuild plugin that plants a fault. The build fails if the code is not found exactly once. */
export function plantFault(name: keyof typeof plantedFaults): Plugin {
  const { file, code, fault } = plantedFaults[name]
  const path = join(import.meta.dirname, '../../../../packages', file)
  return {
    name: 'planted-fault',
    setup(build) {
      build.onLoad({ filter: /\.ts$/ }, async (args) => {
        if (args.path !== path) return undefined
        const parts = (await readFile(path, 'utf8')).split(code)
        if (parts.length !== 2)
          throw new Error(`${file} has the code ${parts.length - 1} times: correct the planted fault`)
        return { contents: parts.join(fault), loader: 'ts' }
      })
    },
  }
}
