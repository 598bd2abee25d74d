import type { ElicitAnswer } from '@x/client'
import { instanceIn } from '../fleet/instance-meta.ts'
import { connect, type RoundEvent, textOf } from './connect.ts'
import { expect, killOnPurpose, type Line, type Step, type StepScope } from './step.ts'

/** The expected questions in order, with their answers. */
export interface Expected {
  readonly key: string
  readonly message: string
  readonly answer: ElicitAnswer
}

/** A tool call with questions to the user. */
export interface RoundsPlan {
  readonly title: string
  readonly workItemId: number
  readonly questions: readonly Expected[]
  /** The texts that the result must contain. */
  readonly say: readonly string[]
  /** `true` to kill the instance that asked the first question before the user answers. */
  readonly kill: boolean
}

/** Resolves a work item and answers the questions of the server. */
export function resolveInRounds(plan: RoundsPlan): Step {
  const args = { workItemId: plan.workItemId, fields: { 'System.State': 'Resolved' } }
  return {
    title: plan.title,
    ask: `tools/call update_work_item { "workItemId": ${plan.workItemId}, "fields": { "System.State": "Resolved" } }`,
    run: async (scope) => {
      const story = createStory(plan, scope)
      const client = connect({ ...scope, onRound: story.watch })
      const result = await client.callTool('update_work_item', args, { signal: scope.signal, elicit: story.answer })
      const lines = textOf(result)
      expect(result.isError !== true, `it should not fail: ${lines.join(' ')}`)
      for (const words of plan.say)
        expect(lines.join(' ').includes(words), `it should say "${words}": ${lines.join(' ')}`)
      story.check()
      return [...story.lines, ...lines]
    },
  }
}

function createStory({ questions, kill }: RoundsPlan, scope: StepScope) {
  const lines: Line[] = []
  const instances: number[] = []
  const count = scope.instances().length
  let answered = 0

  let unnamedRounds = 0
  const watch = ({ round, status, requests, stateBytes, durationMs, meta }: RoundEvent): void => {
    const instance = meta === undefined ? undefined : instanceIn(meta)
    if (instance === undefined) {
      unnamedRounds += 1
      return
    }
    instances.push(instance.id)
    const what =
      status === 'complete'
        ? 'answers:'
        : `asks ${Object.keys(requests).join(', ')}, with ${stateBytes} bytes of state:`
    lines.push({ mark: '←', text: `round ${round}, instance ${instance.id}, ${durationMs.toFixed(0)} ms, ${what}` })
  }
  const answer = async (
    question: { readonly message: string },
    context: { readonly key: string },
  ): Promise<ElicitAnswer> => {
    const expected = questions[answered++]
    expect(expected?.key === context.key, `it should not ask ${context.key} now`)
    expect(question.message === expected.message, `it should ask "${expected.message}", not "${question.message}"`)
    lines.push(question.message)
    if (kill && answered === 1) lines.push(await killInstanceThatAsked(scope, instances[0]))
    lines.push({ mark: '→', text: describeAnswer(expected) })
    return expected.answer
  }
  const check = (): void => {
    expect(unnamedRounds === 0 && instances.length > 0, 'every instance should say who it is')
    expect(answered === questions.length, `it should ask ${questions.length} questions, not ${answered}`)
    // With two instances, of which one is killed, the other may answer twice.
    if (count > 2)
      expect(
        new Set(instances).size === instances.length,
        `every round should go to another instance: ${instances.join(', ')}`,
      )
  }
  return { lines, watch, answer, check }
}

/** Kills the instance that asked. Returns the line of the transcript. */
export function killInstanceThatAsked(scope: StepScope, victim: number | undefined): Promise<Line> {
  expect(victim !== undefined, 'an instance should have asked')
  return killOnPurpose(victim, scope, '. Another instance continues the call.')
}

function describeAnswer({ key, answer: { action, content } }: Expected): string {
  const fields = Object.values(content ?? {}).join(', ')
  return action === 'accept'
    ? `${key}: ${fields}. The same call again, with the answer and the state.`
    : `${key}: ${action}`
}
