import type { InputRequest } from '@x/schema'
import { after, type Awaitable } from '../request/awaitable.ts'
import { fingerprintOf } from './fingerprint.ts'
import { noteEntry } from './commit-journal.ts'
import { wireKey } from './keys.ts'
import { type Asked, journalOf, type Run } from './run.ts'

/** Notes that everything which a run asks is open, and gives it as the client sees it. */
export function recordQuestions(run: Run): Awaitable<readonly RequestEntry[]> {
  let recorded: Awaitable<readonly RequestEntry[]> = []
  for (const [key, asked] of run.asked ?? []) {
    recorded = after(recorded, (before) => after(recordQuestion(run, key, asked), (entry) => [...before, entry]))
  }
  return recorded
}

type RequestEntry = [string, InputRequest]

function recordQuestion(run: Run, key: string, asked: Asked): Awaitable<RequestEntry> {
  return after(fingerprintOf(asked.text), (fingerprint): RequestEntry => {
    const { questions } = journalOf(run)
    const known = questions.get(key)
    // An open question that reads another way now is another question, and must not be taken for the first.
    const isChanged = known !== undefined && known.response === undefined && known.fingerprint !== fingerprint
    const times = isChanged ? asked.times + 1 : asked.times
    const changes = isChanged ? asked.changes + 1 : asked.changes
    questions.set(key, { fingerprint, times, invalidAnswers: asked.invalidAnswers, changes })
    noteEntry(run, 'questions', key)
    return [wireKey(key, times), asked.request]
  })
}
