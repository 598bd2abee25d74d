import type { InputRequest } from '@x/schema'
import { fingerprintOf } from './fingerprint.ts'
import { note } from './kept-journal.ts'
import { wireKey } from './keys.ts'
import { type Asked, journalOf, type Run } from './run.ts'

/** Notes that a question is open, and gives it as the client sees it. */
export async function recordQuestion(run: Run, key: string, asked: Asked): Promise<[string, InputRequest]> {
  const { questions } = journalOf(run)
  const fingerprint = await fingerprintOf(asked.text)
  const known = questions.get(key)
  // An open question that reads another way now is another question, and must not be taken for the first.
  const reworded = known !== undefined && known.response === undefined && known.fingerprint !== fingerprint
  const times = reworded ? asked.times + 1 : asked.times
  const changes = reworded ? asked.changes + 1 : asked.changes
  questions.set(key, { fingerprint, times, misfits: asked.misfits, changes })
  note(run, 'questions', key)
  return [wireKey(key, times), asked.request]
}
