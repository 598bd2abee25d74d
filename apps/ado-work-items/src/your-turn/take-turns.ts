import { UsageError } from '@apps/front/usage'
import pc from 'picocolors'
import { connectionFrom } from '../azure-devops/connection.ts'
import type { Fleet } from '../fleet/start-fleet.ts'
import type { Options } from '../options.ts'
import type { Terminal } from '@x/client/terminal'
import { atTerminal } from './at-terminal.ts'
import type { Person } from './person.ts'
import { readAnswers } from './written-answers.ts'
import { takeTurn } from './your-turn.ts'

/** The part of a run that turns use. */
export interface TurnsContext {
  readonly environment: NodeJS.ProcessEnv
  readonly terminal: Omit<Terminal, 'signal'> | undefined
  readonly stop: AbortController
  readonly print: (text: string) => void
}

/** The person to ask in a run, and the number of turns. */
export interface Turns {
  readonly person: Person
  /** `true` when they may continue with another bug. */
  readonly again: boolean
}

/**
 * Selects the source of answers: a file, the person at the terminal, or none. Without one nothing is asked, so that a
 * run in a script never waits. Throws {@link UsageError}.
 */
export function whoAnswers(
  { ask, answers, once }: Options,
  { environment, terminal, stop }: TurnsContext,
): Turns | undefined {
  const isReal = connectionFrom(environment) !== undefined
  const isWanted = ask ?? (!once && !isReal && terminal !== undefined)
  if (isReal && (isWanted || answers !== undefined)) {
    const reason = '--ask and --answers resolve a bug, so they work with the emulator only: unset AZURE_DEVOPS_ORG'
    throw new UsageError(reason)
  }
  if (answers !== undefined) return { person: readAnswers(answers), again: false }
  if (!isWanted) return undefined
  if (terminal !== undefined) return { person: atTerminal({ ...terminal, signal: stop.signal }), again: !once }
  throw new UsageError('--ask needs a terminal, and there is none: give --answers with a file instead')
}

/** Lets whoever answers resolve bugs. Resolves to whether that went well; rejects when the run is stopped. */
export async function takeTurns(
  turns: Turns | undefined,
  { url }: Pick<Fleet, 'url'>,
  { stop: { signal }, print }: TurnsContext,
): Promise<boolean> {
  if (turns === undefined) return true
  const { person, again } = turns
  try {
    let end = await takeTurn({ url, person, signal, print })
    while (again && end !== 'left') end = await takeTurn({ url, person, signal, print })
    if (again) print(`Still serving on ${pc.bold(url)} until Ctrl-C.`)
    return true
  } catch (error) {
    signal.throwIfAborted()
    print(pc.red(`✘  ${error instanceof Error ? error.message : String(error)}`))
    return false
  }
}
