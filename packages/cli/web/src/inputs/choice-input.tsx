import type { VNode } from 'preact'
import { chosenOf, type Option, textOf } from '../forms/field.ts'
import type { InputProps } from './input-props.ts'

interface ChoiceProps extends InputProps {
  readonly options: readonly Option[]
  /** `true` to show radio buttons, for few options. Otherwise the options are in a list. */
  readonly asRadios: boolean
}

/** Shows an input for one of the options. */
export function ChoiceInput({ asRadios, ...props }: ChoiceProps): VNode {
  return asRadios ? <Radios {...props} /> : <Select {...props} />
}

function Radios({ id, field, draft, options, onDraft }: Omit<ChoiceProps, 'asRadios'>): VNode {
  // A selected radio button cannot be cleared, so an optional field has a button for no value.
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

/** Shows an input for several of the options. */
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
