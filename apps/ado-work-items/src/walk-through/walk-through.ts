import { messageOf } from '@x/core'
import * as z from 'zod'
import { workItemUri } from '../server/work-item-output.ts'
import type { LoginService } from '../authorization/open-login.ts'
import { connect, type ConnectOptions } from './connect.ts'
import { separateUsers, type LoginPlan, loginSteps } from './log-in.ts'
import { emulatorPlan, readOnlyPlan } from './plan.ts'
import type { Step, StepScope } from './step.ts'
import { formatStep, formatSummary, type StepReport } from './transcript.ts'

/** The dependencies of a walk-through. */
export interface WalkThroughOptions {
  readonly url: string
  readonly organization: string
  readonly project: string
  /** `true` if steps may change work items, which is the case on the emulator only. */
  readonly emulated: boolean
  /** The clients of a server with a login. */
  readonly login: LoginService | undefined
  /** `true` if tokens are bound to keys. */
  readonly dpop: boolean
  readonly signal: AbortSignal
  readonly fleet: Pick<StepScope, 'killInstance' | 'instances' | 'untilComplete'>
  readonly print: (text: string) => void
}

/** Runs the walk-through over HTTP. Resolves to `true` if every step succeeded. */
export async function walkThrough(options: WalkThroughOptions): Promise<boolean> {
  const { url, organization, project, signal, fleet, login, print } = options
  const answered = new Set<number>()
  const onInstance: ConnectOptions['onInstance'] = ({ id }) => void answered.add(id)
  const user = { url, auth: login?.auth, onInstance }
  const base = workItemUri({ organization, project }, 0).replace(/\/workitems\/0$/, '')
  const scope: StepScope = { ...fleet, ...user, client: connect(user), signal, uriBase: base }

  const steps = options.emulated ? emulatorPlan : readOnlyPlan(await lastChanged(scope))
  const plan = login === undefined ? steps : protectedPlan(steps, { ...options, login, onInstance })
  let failed = 0
  for (const [index, step] of plan.entries()) {
    answered.clear()
    const report = { ...(await runStep(step, scope)), number: index + 1, instances: [...answered] }
    signal.throwIfAborted()
    if (report.problem !== undefined) failed++
    print(formatStep(report))
  }
  print(formatSummary(plan.length, failed))
  return failed === 0
}

/** Returns the plan for a server with a login. It does not change a real organization. */
function protectedPlan(steps: readonly Step[], plan: LoginPlan & { readonly emulated: boolean }): readonly Step[] {
  return [...loginSteps(plan), ...steps, ...(plan.emulated ? [separateUsers(plan)] : [])]
}

async function runStep(step: Step, scope: StepScope): Promise<Omit<StepReport, 'number' | 'instances'>> {
  const started = performance.now()
  const { title, ask } = step
  try {
    const lines = await step.run(scope)
    return { title, ask, lines, ms: performance.now() - started }
  } catch (error) {
    return { title, ask, lines: [], problem: messageOf(error), ms: performance.now() - started }
  }
}

const listed = z.object({ workItems: z.array(z.object({ id: z.number() })) })

async function lastChanged({ client, signal }: StepScope): Promise<number | undefined> {
  const result = await client.callTool('list_work_items', { top: 1 }, { signal })
  const parsed = listed.safeParse(result.structuredContent)
  return parsed.success ? parsed.data.workItems[0]?.id : undefined
}
