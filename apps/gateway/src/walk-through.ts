import { formatStep, formatSummary } from '@apps/ado-work-items/transcript'
import { openPinFile } from '@x/gateway/node'
import type { GatewayFleet } from './gateway-fleet.ts'
import { createHost } from './host.ts'
import { type Step, steps, type WalkThroughScope } from './steps.ts'

/** The processes and files of a walk-through. */
export interface WalkThroughOptions extends Omit<WalkThroughScope, 'host' | 'pins'> {
  readonly fleet: Pick<GatewayFleet, 'url' | 'instanceUrls' | 'restart'>
  /** The path of the file with the accepted definitions of tools. */
  readonly pinsFile: string
  /** Returns the lines that the instances have logged since the last call. */
  readonly takeLog: () => readonly string[]
}

/** Walks through the gateway as a host does. Resolves to true if every step went as expected. */
export async function walkThrough(options: WalkThroughOptions, print: (text: string) => void): Promise<boolean> {
  const host = createHost(options.fleet.instanceUrls)
  const scope = { ...options, host, pins: openPinFile(options.pinsFile) }
  let failed = 0
  for (const [index, step] of steps.entries()) {
    const started = performance.now()
    const before = scope.host.visits.length
    const outcome = await runStep(step, scope)
    scope.signal.throwIfAborted()
    const instances = new Set(scope.host.visits.slice(before).map(({ instance }) => instance))
    const ms = performance.now() - started
    if (outcome.problem !== undefined) failed += 1
    const mark = outcome.problem === undefined ? 'logged, as it should be' : 'logged'
    const logged = [...new Set(options.takeLog())].map((line) => ({ mark: '·', text: `${mark}: ${line}` }))
    const lines = [...outcome.lines, ...logged]
    print(formatStep({ ...step, ...outcome, lines, number: index + 1, instances: [...instances].toSorted(), ms }))
  }
  print(formatSummary(steps.length, failed))
  return failed === 0
}

async function runStep(
  step: Step,
  scope: WalkThroughScope,
): Promise<{ readonly lines: readonly string[]; readonly problem?: string }> {
  try {
    return { lines: await step.run(scope) }
  } catch (error) {
    return { lines: [], problem: error instanceof Error ? error.message : String(error) }
  }
}
