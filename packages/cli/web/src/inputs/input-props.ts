import type { Draft, Field } from '../forms/field.ts'

/** The properties of a field's input. The page generates ids itself, because names come from the server. */
export interface InputProps {
  readonly id: string
  readonly field: Field
  readonly draft: Draft
  /** The ids of the elements that describe the input. */
  readonly describedBy: string | undefined
  readonly isInvalid: boolean
  readonly onDraft: (draft: Draft) => void
}
