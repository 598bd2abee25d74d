import type { VNode } from 'preact'
import type { Field } from '../forms/field.ts'
import type { Form } from '../forms/form.ts'
import { limitsOf } from '../forms/limits.ts'
import { ChoiceInput, ChoicesInput } from './choice-input.tsx'
import { EntriesInput } from './entries-input.tsx'
import type { Completions, InputProps } from './input-props.ts'
import { FlagInput, JsonInput, NumberInput, TextInput } from './plain-input.tsx'

interface FormFieldsProps {
  readonly form: Form
  /** The prefix of each id, so that a page can contain two forms. */
  readonly prefix: string
  readonly completions?: Completions | undefined
}

/** Shows the fields of a form, each with its label, limits and error. */
export function FormFields({ form, prefix, completions }: FormFieldsProps): VNode {
  return (
    <div class="fields">
      {form.fields.map((field, index) => (
        <FieldView key={field.name} form={form} field={field} id={`${prefix}-${index}`} completions={completions} />
      ))}
    </div>
  )
}

function FieldView(view: Pick<FormFieldsProps, 'form'> & Pick<InputProps, 'field' | 'id' | 'completions'>): VNode {
  const { form, field, id, completions } = view
  const issue = form.issues.value.get(field.name)
  const hint = [field.description, limitsOf(field.kind)].filter((text) => text !== undefined && text !== '').join('. ')
  const describedBy = [hint && `${id}-hint`, issue && `${id}-issue`].filter(Boolean).join(' ') || undefined
  const props: InputProps = {
    id,
    field,
    draft: form.drafts.value.get(field.name) ?? field.initial,
    describedBy,
    isInvalid: issue !== undefined,
    completions,
    onDraft: (draft) => form.set(field.name, draft),
  }
  const texts = (
    <>
      {hint && (
        <p id={`${id}-hint`} class="hint">
          {hint}
        </p>
      )}
      {issue && (
        <p id={`${id}-issue`} class="issue" role="alert">
          {issue}
        </p>
      )}
    </>
  )
  const className = `field field-${field.kind.type}${issue === undefined ? '' : ' invalid'}`
  if (isGroup(field)) {
    return (
      <fieldset class={className} aria-describedby={describedBy} {...groupAttributes(field, issue)}>
        <legend>{labelWords(field)}</legend>
        <FieldInput {...props} />
        {texts}
      </fieldset>
    )
  }
  return (
    <div class={className}>
      <label for={id}>{labelWords(field)}</label>
      <FieldInput {...props} />
      {texts}
    </div>
  )
}

/** Returns the ARIA attributes of a group. Only the role `radiogroup` supports the states required and invalid. */
function groupAttributes({ kind, required }: Field, issue: string | undefined): object {
  if (kind.type !== 'choice') return {}
  return { role: 'radiogroup', 'aria-required': required, 'aria-invalid': issue !== undefined }
}

/** Returns true if a field has several inputs, so that its label belongs to the group. */
function isGroup({ kind }: Field): boolean {
  return ['choices', 'entries'].includes(kind.type) || (kind.type === 'choice' && kind.options.length <= 6)
}

function labelWords({ label, required, kind }: Field): VNode {
  return (
    <>
      {label}
      {!required && kind.type !== 'flag' && <span class="optional"> optional</span>}
    </>
  )
}

function FieldInput(props: InputProps): VNode {
  const { kind } = props.field
  switch (kind.type) {
    case 'text':
      return <TextInput {...props} kind={kind} />
    case 'number':
      return <NumberInput {...props} kind={kind} />
    case 'flag':
      return <FlagInput {...props} />
    case 'choice':
      return <ChoiceInput {...props} options={kind.options} asRadios={isGroup(props.field)} />
    case 'choices':
      return <ChoicesInput {...props} options={kind.options} />
    case 'entries':
      return <EntriesInput {...props} />
    default:
      return <JsonInput {...props} />
  }
}

/** Moves the focus to the first invalid field, after its error is rendered. */
export function focusFirstIssue(form: HTMLFormElement): void {
  requestAnimationFrame(() => {
    const first = form.querySelector('.invalid :is(input, select, textarea)')
    if (first instanceof HTMLElement) first.focus()
  })
}
