import type { VNode } from 'preact'
import { entriesOf, type Entry, type Option } from '../forms/field.ts'
import type { InputProps } from './input-props.ts'

/** Suggestions for the rows. Other text is allowed. */
export interface Suggestions {
  readonly ids: readonly Option[]
  readonly names: readonly string[]
  /** The current value of each field. */
  readonly current: ReadonlyMap<string, string>
  readonly values: ReadonlyMap<string, readonly string[]>
}

interface EntriesProps extends InputProps {
  readonly suggestions: Suggestions | undefined
}

/** Shows rows of a name and a value. */
export function EntriesInput({ id, draft, isInvalid, onDraft, suggestions }: EntriesProps): VNode {
  const rows = entriesOf(draft)
  const change = (at: number, entry: Entry): void => onDraft(rows.map((row, index) => (index === at ? entry : row)))
  return (
    <div class="entries">
      <datalist id={`${id}-names`}>
        {suggestions?.names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {rows.map((row, index) => (
        <EntryRow
          // The index is the key, because the name of a row changes while the user types.
          key={index}
          id={`${id}-${index}`}
          namesId={`${id}-names`}
          row={row}
          place={index + 1}
          isInvalid={isInvalid}
          suggestions={suggestions}
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
  readonly id: string
  readonly namesId: string
  readonly row: Entry
  /** The number of the row, from 1. */
  readonly place: number
  readonly isInvalid: boolean
  readonly suggestions: Suggestions | undefined
  readonly onChange: (entry: Entry) => void
  readonly onRemove: () => void
}

function EntryRow(props: EntryRowProps): VNode {
  const { id, namesId, row, place, isInvalid, suggestions, onChange, onRemove } = props
  const called = row.name === '' ? `field ${place}` : row.name
  const current = suggestions?.current.get(row.name)
  return (
    <div class="entry">
      <input
        type="text"
        class="entry-name"
        list={namesId}
        aria-label={`Name of field ${place}`}
        placeholder="System.Title"
        autocomplete="off"
        spellcheck={false}
        value={row.name}
        aria-invalid={isInvalid && row.name === ''}
        onInput={(event) => onChange({ ...row, name: event.currentTarget.value })}
      />
      <input
        type="text"
        list={`${id}-values`}
        aria-label={`New value of ${called}`}
        placeholder={current === undefined ? 'New value' : `now ${current.slice(0, 60)}`}
        autocomplete="off"
        value={row.value}
        aria-invalid={isInvalid && row.name !== ''}
        onInput={(event) => onChange({ ...row, value: event.currentTarget.value })}
      />
      <datalist id={`${id}-values`}>
        {suggestions?.values.get(row.name)?.map((value) => (
          <option key={value} value={value} />
        ))}
      </datalist>
      <button type="button" class="quiet" aria-label={`Remove ${called}`} onClick={onRemove}>
        ✕
      </button>
    </div>
  )
}
