/** Version of the interface, as the API description and receipts name it. */
export const API_VERSION = '0.1.0';
