import { computed, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { type JsonObject, messageOf } from '@x/core'
import type { QuestionView } from '../../../src/dev/events.ts'
import { type Form, openForm } from '../forms/form.ts'
import { draftOf } from '../forms/tool-fields.ts'
import type { Api } from './api.ts'
import { createDevState, type DevState } from './dev-state.ts'
import { groupItems, type Item, type ItemGroup } from './items.ts'

/** An item with its form. */
export interface ItemForm {
  readonly item: Item
  readonly form: Form
}

type PickedItem = Pick<Item, 'kind' | 'target'>

/** What the page shows, and what it can do. */
export interface Session {
  readonly state: DevState
  readonly groups: ReadonlySignal<readonly ItemGroup[]>
  readonly picked: ReadonlySignal<ItemForm | undefined>
  /** The call that is shown: the one that the user has picked, or the latest. */
  readonly shownCallId: ReadonlySignal<number | undefined>
  /** The open question of the shown call, or else the oldest one. */
  readonly shownQuestion: ReadonlySignal<QuestionView | undefined>
  /** The refusal of the last command. */
  readonly problem: Signal<string | undefined>
  pick(item: PickedItem): void
  showCall(id: number): void
  call(call: PickedItem & { readonly args: JsonObject }): Promise<void>
  /** Sends a command, and resolves with its result. */
  readonly ask: Api['post']
  /** Shows a tool with these arguments in its form. */
  fill(tool: string, args: object): void
  sendToPanel(name: string, command: object): Promise<unknown>
  /** Sends another command. A refusal becomes the `problem`. */
  command(path: string, body?: object): Promise<void>
  /** Reads the events of the command until the page is left. Connects again when the command has ended. */
  connect(): Promise<void>
}

const reconnectMs = 1000

/** Creates the session of a page. */
export function createSession(api: Api): Session {
  const state = createDevState()
  const pickedItem = signal<PickedItem | undefined>(undefined)
  const groups = computed(() => (state.lists.value === undefined ? [] : groupItems(state.lists.value)))
  const shownCallId = signal<number | undefined>(undefined)
  const problem = signal<string | undefined>(undefined)
  const picked = createPicked(groups, pickedItem)
  effect(() => {
    const latest = state.calls.value.find(({ source }) => source === 'page') ?? state.calls.value[0]
    if (shownCallId.peek() === undefined && latest !== undefined) shownCallId.value = latest.id
  })

  const command: Session['command'] = async (path, body) => {
    try {
      await api.post(path, body)
      problem.value = undefined
    } catch (error) {
      problem.value = messageOf(error)
    }
  }
  return {
    state,
    groups,
    picked,
    shownCallId,
    shownQuestion: computed(() => {
      const questions = state.questions.value
      return questions.find(({ callId }) => callId === shownCallId.value) ?? questions[0]
    }),
    problem,
    pick: ({ kind, target }) => void (pickedItem.value = { kind, target }),
    showCall: (id) => void (shownCallId.value = id),
    ask: api.post,
    call: async (call) => {
      await api.post('call', call).then(
        (result) => {
          shownCallId.value = Number(Object(result).id)
          problem.value = undefined
        },
        (error: unknown) => void (problem.value = messageOf(error)),
      )
    },
    fill: (tool, args) => {
      pickedItem.value = { kind: 'tool', target: tool }
      const form = picked.value?.item.target === tool ? picked.value.form : undefined
      for (const field of form?.fields ?? [])
        if (Object.hasOwn(args, field.name)) form?.set(field.name, draftOf(Object(args)[field.name], field.kind))
    },
    sendToPanel: (name, body) => api.post(`panels/${name}`, body),
    command,
    connect: () => keepConnected(api, state),
  }
}

/** A form keeps its input when the server is started again, unless the fields of its item have changed. */
function createPicked(
  groups: ReadonlySignal<readonly ItemGroup[]>,
  picked: Signal<PickedItem | undefined>,
): ReadonlySignal<ItemForm | undefined> {
  const forms = new Map<string, { readonly form: Form; readonly fields: string }>()
  return computed(() => {
    const items = groups.value.flatMap((group) => group.items)
    const isPicked = ({ kind, target }: Item): boolean => kind === picked.value?.kind && target === picked.value.target
    const item = items.find(isPicked) ?? items[0]
    if (item === undefined) return undefined
    const key = `${item.kind} ${item.target}`
    const fields = JSON.stringify(item.fields)
    const known = forms.get(key)
    const form = known?.fields === fields ? known.form : openForm(item.fields)
    forms.set(key, { form, fields })
    return { item, form }
  })
}

async function keepConnected(api: Api, state: DevState): Promise<void> {
  for (;;) {
    let isFirst = true
    const end = await api
      .read((events) => {
        // The command sends everything that it has kept, so what an earlier connection has received is dropped.
        if (isFirst) state.clear()
        isFirst = false
        state.take(events)
        state.link.value = 'live'
      })
      .catch(() => 'ended' as const)
    if (end === 'refused') return void (state.link.value = 'refused')
    state.link.value = 'lost'
    await new Promise((resolve) => setTimeout(resolve, reconnectMs))
  }
}
