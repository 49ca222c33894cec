import { Revision } from '../../control/revision.ts';

/** Notifies every sender, of any process, that registrations changed. */
export const webhooksRevision = new Revision('webhooks_revision');
