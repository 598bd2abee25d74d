import type { VNode } from 'preact'
import { chosenOf, type Option, textOf } from '../forms/field.ts'
import type { InputProps } from './input-props.ts'

interface ChoiceProps extends InputProps {
  readonly options: readonly Option[]
  /** Few options are shown all at once, many in a list that opens. */
  readonly asRadios: boolean
}

/** One of the options. */
export function ChoiceInput({ asRadios, ...props }: ChoiceProps): VNode {
  return asRadios ? <Radios {...props} /> : <Select {...props} />
}

function Radios({ id, field, draft, options, onDraft }: Omit<ChoiceProps, 'asRadios'>): VNode {
  // A radio button cannot be taken back, so what may stay empty needs a button for that.
  const all = field.required ? options : [...options, { value: '', label: 'No answer' }]
  return (
    <div class="options">
      {all.map(({ value, label }) => (
        <label key={value} class="option">
          <input type="radio" name={id} checked={textOf(draft) === value} onChange={() => onDraft(value)} />
          {label}
        </label>
      ))}
    </div>
  )
}

function Select({ id, field, draft, options, describedBy, isInvalid, onDraft }: Omit<ChoiceProps, 'asRadios'>): VNode {
  return (
    <select
      id={id}
      value={textOf(draft)}
      aria-describedby={describedBy}
      aria-invalid={isInvalid}
      aria-required={field.required}
      onChange={(event) => onDraft(event.currentTarget.value)}
    >
      <option value="">{field.required ? 'Choose …' : 'No answer'}</option>
      {options.map(({ value, label }) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  )
}

/** Several of the options. */
export function ChoicesInput({ draft, options, onDraft }: InputProps & Pick<ChoiceProps, 'options'>): VNode {
  const chosen = chosenOf(draft)
  const toggle = (value: string, isChosen: boolean): void => {
    const others = chosen.filter((one) => one !== value)
    onDraft(isChosen ? [...others, value] : others)
  }
  return (
    <div class="options">
      {options.map(({ value, label }) => (
        <label key={value} class="option">
          <input
            type="checkbox"
            checked={chosen.includes(value)}
            onChange={(event) => toggle(value, event.currentTarget.checked)}
          />
          {label}
        </label>
      ))}
    </div>
  )
}
