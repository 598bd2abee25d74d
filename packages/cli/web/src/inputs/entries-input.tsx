import type { VNode } from 'preact'
import { entriesOf, type Entry } from '../forms/field.ts'
import type { InputProps } from './input-props.ts'

/** Shows rows of a name and a value. */
export function EntriesInput({ draft, isInvalid, onDraft }: InputProps): VNode {
  const rows = entriesOf(draft)
  const change = (at: number, entry: Entry): void => onDraft(rows.map((row, index) => (index === at ? entry : row)))
  return (
    <div class="entries">
      {rows.map((row, index) => (
        <EntryRow
          // The index is the key, because the name of a row changes while the user types.
          key={index}
          row={row}
          place={index + 1}
          isInvalid={isInvalid}
          onChange={(entry) => change(index, entry)}
          onRemove={() => onDraft(rows.filter((_, at) => at !== index))}
        />
      ))}
      <button type="button" class="quiet" onClick={() => onDraft([...rows, { name: '', value: '' }])}>
        Add a field
      </button>
    </div>
  )
}

interface EntryRowProps {
  readonly row: Entry
  /** The number of the row, from 1. */
  readonly place: number
  readonly isInvalid: boolean
  readonly onChange: (entry: Entry) => void
  readonly onRemove: () => void
}

function EntryRow(props: EntryRowProps): VNode {
  const { row, place, isInvalid, onChange, onRemove } = props
  const called = row.name === '' ? `field ${place}` : row.name
  return (
    <div class="entry">
      <input
        type="text"
        class="entry-name"
        aria-label={`Name of field ${place}`}
        placeholder="Name"
        autocomplete="off"
        spellcheck={false}
        value={row.name}
        aria-invalid={isInvalid && row.name === ''}
        onInput={(event) => onChange({ ...row, name: event.currentTarget.value })}
      />
      <input
        type="text"
        aria-label={`New value of ${called}`}
        placeholder="New value"
        autocomplete="off"
        value={row.value}
        aria-invalid={isInvalid && row.name !== ''}
        onInput={(event) => onChange({ ...row, value: event.currentTarget.value })}
      />
      <button type="button" class="quiet" aria-label={`Remove ${called}`} onClick={onRemove}>
        ✕
      </button>
    </div>
  )
}
