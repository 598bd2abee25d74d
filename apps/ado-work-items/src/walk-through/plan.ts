import { complete, discover, getPrompt, listTools, readResource, search, surviveKill, update } from './questions.ts'
import { resolveAsOlderClient } from './older-client.ts'
import { resolveInRounds } from './resolve-in-rounds.ts'
import type { Step } from './step.ts'
import { talkInSessions } from './talk-in-sessions.ts'
import { updateInTask } from './update-in-task.ts'

const state = 'System.State'
const resolution = 'Microsoft.VSTS.Common.ResolvedReason'
const stateRule = 'rule "Resolved needs a resolution" requires the field'

/** The walk-through on the emulator, whose work items are known. */
export const emulatorPlan: readonly Step[] = [
  discover,
  listTools,
  search('Which bugs are active?', { type: 'Bug', state: 'Active' }, [4522, 4517, 4301]),
  search("Search for o'brien: the quote stays part of the search.", { text: "o'brien" }, [4517]),
  readResource('Read bug 4522 as a resource.', 4522),
  update(
    'A client without elicitation must be refused.',
    { workItemId: 4522, fields: { [state]: 'Resolved' } },
    { rejected: true, say: [stateRule, "Fixed, Won't Fix, Duplicate, By Design"] },
  ),
  resolveInRounds({
    title: 'Resolve it with elicitation: each round at another instance.',
    workItemId: 4522,
    questions: [
      {
        key: 'resolution',
        message: 'Resolving Bug #4522 requires a resolution. How was this bug resolved?',
        answer: { action: 'accept', content: { resolution: 'Duplicate' } },
      },
      {
        key: 'duplicate_of',
        message: 'Since this is a duplicate, which work item is the original?',
        answer: { action: 'accept', content: { duplicateOfId: 4301 } },
      },
    ],
    say: [
      'Bug #4522 resolved as Duplicate of Bug #4301. State set to Resolved and duplicate link created.',
      'revision 8',
    ],
    kill: true,
  }),
  resolveInRounds({
    title: 'The user declines, so nothing may change.',
    workItemId: 4301,
    questions: [
      {
        key: 'resolution',
        message: 'Resolving Bug #4301 requires a resolution. How was this bug resolved?',
        answer: { action: 'decline' },
      },
    ],
    say: ['Bug #4301 was not changed: the user declined to answer "resolution". It stays at revision 5.'],
    kill: false,
  }),
  update(
    'Resolve 4517 as fixed, provided that it is still at revision 3.',
    { workItemId: 4517, fields: { [state]: 'Resolved', [resolution]: 'Fixed' }, rev: 3 },
    { rejected: false, say: ['Bug #4517 was changed', 'revision 4'] },
  ),
  update(
    'Another user still has revision 3, and must be refused.',
    { workItemId: 4517, fields: { [state]: 'Closed' }, rev: 3 },
    { rejected: true, say: ['Bug #4517 was not changed', 'Another user changed the work item', 'get_work_item'] },
  ),
  talkInSessions('Two sessions at once: in each, "it" is another bug.', [4517, 4533]),
  resolveAsOlderClient({
    title: 'A client of 2025-11-25 returns the state of a question (SEP-1685).',
    workItemId: 4533,
    question: {
      key: 'resolution',
      message: 'Resolving Bug #4533 requires a resolution. How was this bug resolved?',
      answer: { action: 'accept', content: { resolution: 'By Design' } },
    },
    say: 'Bug #4533',
  }),
  complete('Which ids begin with 45?', '45'),
  getPrompt('Get the prompt that triages bug 4533.', 4533),
  updateInTask({
    title: 'Resolve what is about gift wrap, as a task. One must fail.',
    text: 'gift wrap',
    fields: { [state]: 'Resolved' },
    question: {
      key: 'resolution',
      message: 'Resolving Bug #4609, Bug #4610 and Bug #4611 requires a resolution. How were they resolved?',
      answer: { action: 'accept', content: { resolution: 'Fixed' } },
    },
    changed: 11,
    skipped: [4612],
  }),
]

/** Returns the walk-through on a real organization. It only reads, beginning with the given work item. */
export function readOnlyPlan(id: number | undefined): readonly Step[] {
  const first = [discover, listTools, search('Which work items changed last?', { top: 5 })]
  if (id === undefined) return first
  return [
    ...first,
    readResource(`Read work item ${id} as a resource.`, id),
    complete('Which ids begin like it?', String(id).slice(0, 2)),
    getPrompt('Get the prompt that triages it.', id),
    surviveKill('Kill an instance, and call again.', id),
  ]
}
