import type { Draft, Field } from '../forms/field.ts'

/** What the input of a field is given. Ids are of the page's own making: names come from elsewhere. */
export interface InputProps {
  readonly id: string
  readonly field: Field
  readonly draft: Draft
  /** The ids of the texts that describe it. */
  readonly describedBy: string | undefined
  readonly isInvalid: boolean
  readonly onDraft: (draft: Draft) => void
}
