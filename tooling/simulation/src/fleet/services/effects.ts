import type { SimulationContext } from '../simulation-context.ts'
import { callRemote, type RemoteService } from './remote.ts'

/** An external system that steps call, such as a bank. It stores one effect for each idempotency key. */
export interface EffectLog {
  /** Makes the effect of a step. Returns the value of the first effect with this key. */
  make(step: StepEffect): Promise<string>
  /** Returns the value of the effect of a step. Undefined if it was never made. */
  valueOf(step: string): string | undefined
  /** Records the start of a step. Reports a step of an older client that has started before. */
  begin(step: string): void
}

/** An effect, and the step that makes it. */
export interface StepEffect {
  /** The name of the step within its call, which is unique in a simulation: `a1/one`. */
  readonly step: string
  readonly idempotencyKey: string
}

/** Creates a log without effects, which reports a step whose idempotency key changes. */
export function createEffectLog(context: SimulationContext, service: RemoteService): EffectLog {
  const { report, trace } = context
  const keysByStep = new Map<string, string>()
  const valuesByKey = new Map<string, string>()
  const begun = new Map<string, number>()
  const apply = async ({ step, idempotencyKey }: StepEffect): Promise<string> => {
    const knownKey = keysByStep.get(step) ?? idempotencyKey
    if (knownKey !== idempotencyKey) report('steps', `${step} had the key ${knownKey} and has ${idempotencyKey}`)
    keysByStep.set(step, knownKey)
    const value = valuesByKey.get(idempotencyKey) ?? `v${valuesByKey.size + 1}`
    valuesByKey.set(idempotencyKey, value)
    trace.add('effects', `${step} is ${value}`)
    return value
  }
  return {
    make: (effect) => callRemote(context, service, { name: effect.step, run: () => apply(effect) }),
    valueOf: (step) => valuesByKey.get(keysByStep.get(step) ?? ''),
    begin: (step) => {
      const count = (begun.get(step) ?? 0) + 1
      begun.set(step, count)
      if (count > 1 && step.includes('older')) report('rounds', `${step} began ${count} times`)
    },
  }
}
