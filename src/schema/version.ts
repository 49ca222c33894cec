/** Version of the interface, shown in the API description and in receipts. */
export const API_VERSION = '0.1.0';
