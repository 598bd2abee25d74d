import type { ElicitAnswer } from '@x/client'
import type { CallToolResult } from '@x/schema'
import type { TaskHandle } from '@x/tasks/client'
import * as z from 'zod'
import { workerIn } from '../fleet/instance-meta.ts'
import { textOf } from './connect.ts'
import { json } from './questions.ts'
import type { Expected } from './resolve-in-rounds.ts'
import { expect, killOnPurpose, type Line, type Step, type StepScope } from './step.ts'

/** A change of many work items as a task whose instance is killed during the work. */
export interface TaskPlan {
  readonly title: string
  /** The search text, which the titles of the work items contain. */
  readonly text: string
  readonly fields: Readonly<Record<string, string>>
  /** The question that follows after all changes without missing fields. */
  readonly question: Expected
  /** The number of work items that must be at their next revision. */
  readonly changed: number
  /** The ids of the work items that must be unchanged. */
  readonly skipped: readonly number[]
}

/** The number of finished work items after which the instance is killed. */
const killAfter = 2

/**
 * Changes many work items as a task. The instance that runs the task is killed, and another instance continues the task
 * and asks the question. Each work item must have been changed exactly once.
 */
export function updateInTask(plan: TaskPlan): Step {
  const args = { text: plan.text, fields: { ...plan.fields } }
  return {
    title: plan.title,
    ask: `tools/call update_work_items ${json(args)}`,
    run: async (scope) => {
      const before = await revisions(plan, scope)
      const story = createStory(plan)
      const how = { signal: scope.signal, elicit: story.answer }
      const begun = performance.now()
      const started = await scope.client.tasks.start('update_work_items', args, how)
      expect(started.status === 'task', 'it should continue as a task')
      const { task } = started
      const took = (performance.now() - begun).toFixed(0)
      story.lines.push(`answered after ${took} ms, with task ${task.taskId.slice(0, 8)}…`)
      story.lines.push(...(await watch(task, scope)))
      const result = await task.result(how)
      story.check(result)
      const verdict = compare(plan, before, await revisions(plan, scope))
      await scope.untilComplete()
      return [...story.lines, ...textOf(result), verdict]
    },
  }
}

/** Kills the instance that runs the task, then reads the task's states until another instance runs it. */
async function watch(task: TaskHandle, scope: StepScope): Promise<readonly Line[]> {
  const lines: Line[] = []
  let victim: Seen | undefined
  for await (const { status, statusMessage } of task.states({ signal: scope.signal })) {
    const seen = readProgress(statusMessage)
    if (victim === undefined && status === 'working' && seen !== undefined && seen.done >= killAfter) {
      lines.push(
        { mark: '←', text: `working, ${seen.message}` },
        await killOnPurpose(seen.worker, scope, ', in the middle of a change.'),
      )
      victim = { ...seen, at: performance.now() }
    } else if (victim !== undefined && seen !== undefined && seen.worker !== victim.worker) {
      const seconds = ((seen.at - victim.at) / 1000).toFixed(1)
      return [...lines, { mark: '←', text: `${status}, ${seen.message}, ${seconds} s later` }]
    }
    // A task that waits for input keeps the message of its last progress. All work may have finished between two polls.
    if (status !== 'working') break
  }
  expect(victim !== undefined, 'the task should be seen at work, with the instance that works on it')
  expect(false, `another instance should take the task over from instance ${victim.worker}`)
}

interface Seen {
  readonly worker: number
  /** The number of finished work items. */
  readonly done: number
  readonly at: number
  readonly message: string
}

function readProgress(message = ''): Seen | undefined {
  const worker = workerIn(message)
  const done = /^(\d+) of /.exec(message)?.[1]
  return worker === undefined || done === undefined
    ? undefined
    : { worker, done: Number(done), at: performance.now(), message }
}

function createStory({ question }: TaskPlan) {
  const lines: Line[] = []
  let asked = 0
  const answer = ({ message }: { readonly message: string }, { key }: { readonly key: string }): ElicitAnswer => {
    expect(asked++ === 0, `it should ask once, and not ask ${key} as well`)
    expect(message === question.message, `it should ask "${question.message}", not "${message}"`)
    const values = Object.values(question.answer.content ?? {}).join(', ')
    lines.push({ mark: '←', text: `input_required: ${message}` })
    lines.push({ mark: '→', text: `tasks/update ${question.key}: ${values}` })
    return question.answer
  }
  const check = (result: CallToolResult): void => {
    expect(result.isError !== true, `it should not fail: ${textOf(result).join(' ')}`)
    expect(asked === 1, `it should ask ${question.key}`)
  }
  return { lines, answer, check }
}

const listed = z.object({ workItems: z.array(z.object({ id: z.number(), rev: z.number() })) })

async function revisions({ text }: TaskPlan, { client, signal }: StepScope): Promise<ReadonlyMap<number, number>> {
  const { structuredContent } = await client.callTool('list_work_items', { text, top: 200 }, { signal })
  return new Map(listed.parse(structuredContent).workItems.map(({ id, rev }) => [id, rev]))
}

function compare(
  { changed, skipped }: TaskPlan,
  before: ReadonlyMap<number, number>,
  after: ReadonlyMap<number, number>,
): Line {
  expect(before.size === changed + skipped.length, `there should be ${changed + skipped.length}, not ${before.size}`)
  for (const [id, rev] of before) {
    const wanted = skipped.includes(id) ? rev : rev + 1
    const now = after.get(id)
    expect(now === wanted, `#${id} should be at revision ${wanted}, not ${now}`)
  }
  return `list_work_items: ${changed} are exactly one revision further, ${skipped.length} is as it was.`
}
