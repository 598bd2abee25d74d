/**
 * What needs Node.
 *
 * @module @x/testing/node
 */

export {
  checkRecordedStates,
  type RecordedCall,
  type RecordedCheck,
  type RecordedStatesOptions,
  type StateCheck,
} from './recorded-states.ts'
