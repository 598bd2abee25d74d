import type { TargetedInputEvent, VNode } from 'preact'
import { type FieldKind, textOf } from '../forms/field.ts'
import type { Completions, InputProps } from './input-props.ts'

type KindOf<Type extends FieldKind['type']> = { readonly kind: Extract<FieldKind, { readonly type: Type }> }

function attributesOf({ id, field, draft, describedBy, isInvalid, onDraft }: InputProps) {
  return {
    id,
    value: textOf(draft),
    'aria-describedby': describedBy,
    'aria-invalid': isInvalid,
    'aria-required': field.required,
    onInput: (event: TargetedInputEvent<HTMLInputElement | HTMLTextAreaElement>) => onDraft(event.currentTarget.value),
  }
}

/** Shows an input for a line of text, a date, a time or an address. */
export function TextInput({ kind, ...props }: InputProps & KindOf<'text'>): VNode {
  const attributes = attributesOf(props)
  const { completions } = props
  switch (kind.format) {
    case 'date':
      return <input type="date" {...attributes} />
    case 'date-time':
      return <input type="datetime-local" step="1" {...attributes} />
    case 'email':
      return <input type="email" autocomplete="email" {...attributes} />
    case 'uri':
      return <input type="url" {...attributes} />
    default:
      return completions === undefined ? (
        <input type="text" autocomplete="off" {...attributes} />
      ) : (
        <CompletedInput {...props} completions={completions} />
      )
  }
}

/** Shows an input with the values that the server suggests for what is typed. */
function CompletedInput(props: InputProps & { readonly completions: Completions }): VNode {
  const { id, field, draft, completions, onDraft } = props
  return (
    <>
      <input
        type="text"
        autocomplete="off"
        {...attributesOf(props)}
        list={`${id}-values`}
        onFocus={() => completions.request(field.name, textOf(draft))}
        onInput={({ currentTarget: { value } }) => {
          onDraft(value)
          completions.request(field.name, value)
        }}
      />
      <datalist id={`${id}-values`}>
        {completions.values.value.get(field.name)?.map((value) => (
          <option key={value} value={value} />
        ))}
      </datalist>
    </>
  )
}

/** Shows an input for a number. It is a text input, because number inputs hide text that is not a number. */
export function NumberInput({ kind, ...props }: InputProps & KindOf<'number'>): VNode {
  return (
    <input type="text" inputMode={kind.whole ? 'numeric' : 'decimal'} autocomplete="off" {...attributesOf(props)} />
  )
}

/** Shows an input for a boolean. */
export function FlagInput({ id, draft, describedBy, onDraft }: InputProps): VNode {
  return (
    <input
      id={id}
      type="checkbox"
      checked={draft === true}
      aria-describedby={describedBy}
      onChange={(event) => onDraft(event.currentTarget.checked)}
    />
  )
}

/** Shows an input for JSON, for values without an input of their own. */
export function JsonInput(props: InputProps): VNode {
  return <textarea rows={3} spellcheck={false} {...attributesOf(props)} />
}
