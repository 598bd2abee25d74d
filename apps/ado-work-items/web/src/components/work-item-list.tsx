import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import type { WorkItem, WorkItems } from '../session/work-items.ts'

/** Shows the work items, of which one can be selected. */
export function WorkItemList({ workItems }: { readonly workItems: WorkItems }): VNode {
  const wanted = useSignal('')
  const items = workItems.items.value
  const shown = items?.filter((item) => matches(item, wanted.value))
  return (
    <section class="card" aria-labelledby="work-items">
      <div class="card-head">
        <h2 id="work-items">Work items</h2>
        <button type="button" class="quiet" onClick={() => void workItems.reload()}>
          Refresh
        </button>
      </div>
      <label class="visually-hidden" for="wanted">
        Show only work items with
      </label>
      <input
        id="wanted"
        type="search"
        placeholder="Id, title, state or person"
        value={wanted}
        onInput={(event) => {
          wanted.value = event.currentTarget.value
        }}
      />
      {workItems.failure.value && (
        <p class="notice bad" role="alert">
          {workItems.failure}
        </p>
      )}
      {items === undefined && workItems.failure.value === undefined && <p class="hint">Reading the work items …</p>}
      {shown?.length === 0 && <p class="hint">No work item matches.</p>}
      <fieldset class="items">
        <legend class="visually-hidden">Pick a work item</legend>
        {shown?.map((item) => (
          <WorkItemRow key={item.id} item={item} workItems={workItems} />
        ))}
      </fieldset>
      {workItems.more.value && <p class="hint">The server has more than these.</p>}
    </section>
  )
}

function WorkItemRow({ item, workItems }: { readonly item: WorkItem; readonly workItems: WorkItems }): VNode {
  const { id, title, type, state, assignedTo } = item
  return (
    <label class="item">
      <input
        type="radio"
        name="work-item"
        class="visually-hidden"
        checked={workItems.selected.value?.id === id}
        onChange={() => void workItems.select(id)}
      />
      <span class="item-line">
        <span class="item-id">#{id}</span>
        <span class="item-type">{type}</span>
        <span class={`state ${stateClass(state)}`}>{state}</span>
      </span>
      <span class="item-title">{title}</span>
      <span class="item-person" title={assignedTo}>
        {nameOf(assignedTo)}
      </span>
    </label>
  )
}

const stateClasses: ReadonlyMap<string, string> = new Map([
  ['New', 'state-new'],
  ['Active', 'state-active'],
  ['Resolved', 'state-resolved'],
  ['Closed', 'state-closed'],
])

function stateClass(state: string): string {
  return stateClasses.get(state) ?? 'state-new'
}

/** Returns the name of a person without the address: "Ada" for `Ada <ada@example.com>`. */
function nameOf(person = 'Unassigned'): string {
  return person.replace(/ <[^<>]*>$/, '')
}

function matches({ id, title, state, type, assignedTo = '' }: WorkItem, wanted: string): boolean {
  const text = `#${id} ${title} ${state} ${type} ${assignedTo}`.toLowerCase()
  return wanted
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}
